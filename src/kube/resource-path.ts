import type { StreamName } from '../model/observation.ts';
import { asString, metadataOf } from '../model/observe/read.ts';

/**
 * What a path such as `/api/v1/namespaces/shop/pods/web-0/log` refers to, as RBAC names it: the resource with its
 * subresource (`pods/log`), and the group (empty for the core group).
 */
export function readPath(path: string): { resource: string; group: string } {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const group = parts[0] === 'apis' ? (parts[1] ?? '') : '';
  const rest = parts.slice(parts[0] === 'apis' ? 3 : 2);
  const [kind = '', , subresource] = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
  return { resource: subresource === undefined ? kind : `${kind}/${subresource}`, group };
}

/** Path of a collection; an empty `namespace` means all namespaces. `group`: with its version; `v1` is the core group. */
export function collectionPath(namespace: string, resource: string, group = 'v1'): string {
  const root = group === 'v1' ? '/api/v1' : `/apis/${group}`;
  return namespace === '' ? `${root}/${resource}` : `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
}

/** The path of one pod, or of something below it. */
export function podPath(namespace: string, name: string, subresource?: 'log' | 'eviction'): string {
  const path = `${collectionPath(namespace, 'pods')}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** The Accept header for metadata only; a server that does not support it sends whole objects. */
export function acceptMetadata(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}

/** One collection, or a part of it. */
export interface WatchTarget {
  stream: StreamName;
  /** The collection, e.g. `/api/v1/namespaces/shop/pods`. */
  path: string;
  /** Selects one object by `metadata.name`, which is also read with a GET when the stream has been silent for long. */
  name?: string;
  fieldSelector?: string;
  labelSelector?: string;
  /** What is kept of each object as it arrives; absent: the whole object. Its name and version must stay. */
  keep?: ((this: void, object: unknown) => unknown) | undefined;
}

/** The object has another name or namespace than requested: the server, or a proxy before it, ignores the selector. */
export function isForeign({ path, name }: WatchTarget, object: unknown): boolean {
  const metadata = metadataOf(object);
  const isOther = (received: string | undefined, asked: string | undefined): boolean =>
    received !== undefined && asked !== undefined && received !== asked;
  return isOther(asString(metadata['name']), name) || isOther(asString(metadata['namespace']), namespaceIn(path));
}

/** Called for each line of each watch, so it is cheaper than `readPath`. */
function namespaceIn(path: string): string | undefined {
  const [, namespace] = /^\/apis?(?:\/[^/]+){1,2}\/namespaces\/([^/]+)\//.exec(path) ?? [];
  return namespace === undefined ? undefined : decodeURIComponent(namespace);
}

export function keyOf(object: unknown): string {
  const { namespace, name } = metadataOf(object);
  return `${asString(namespace)}/${asString(name)}`;
}

export function selectors({ name, fieldSelector, labelSelector }: WatchTarget) {
  const fields = [name === undefined ? undefined : `metadata.name=${name}`, fieldSelector].filter(Boolean);
  return { fieldSelector: fields.join(',') || undefined, labelSelector: labelSelector || undefined };
}
