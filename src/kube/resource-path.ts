import type { StreamName } from '../model/observation.ts';
import { asString, metadataOf } from '../model/observe/read.ts';

/** What an API path is about, in the words of a Role. */
export interface Resource {
  /** Empty for the core group. */
  group: string;
  /** With its subresource, as RBAC writes it: `pods`, `pods/log`. */
  resource: string;
  namespace?: string;
  name?: string;
}

/** Reads `/api/v1/namespaces/shop/pods/web-0/log` and the like. */
export function readPath(path: string): Resource {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const group = parts[0] === 'apis' ? (parts[1] ?? '') : '';
  const rest = parts.slice(parts[0] === 'apis' ? 3 : 2);
  const namespaced = rest[0] === 'namespaces' && rest.length > 2;
  const [kind = '', name, subresource] = namespaced ? rest.slice(2) : rest;
  return {
    group,
    resource: subresource === undefined ? kind : `${kind}/${subresource}`,
    namespace: namespaced ? rest[1] : undefined,
    name,
  };
}

/** The path of one pod, or of something below it. */
export function podPath(namespace: string, name: string, subresource?: 'log' | 'eviction'): string {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** The Accept header that asks for metadata alone; a server that cannot do that sends all. */
export function acceptMetadata(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}

/** One collection, or a narrowed part of it. */
export interface WatchTarget {
  stream: StreamName;
  /** The collection, e.g. `/api/v1/namespaces/shop/pods`. */
  path: string;
  /** The one object: narrows by `metadata.name`, and is what is read when the stream has long been silent. */
  name?: string;
  fieldSelector?: string;
  labelSelector?: string;
}

/**
 * Of another name or another namespace than requested: from a server, or a proxy before it, that does not respect
 * the selector.
 */
export function isForeign({ path, name }: WatchTarget, object: unknown): boolean {
  const metadata = metadataOf(object);
  const isOther = (received: string | undefined, asked: string | undefined): boolean =>
    received !== undefined && asked !== undefined && received !== asked;
  return isOther(asString(metadata['name']), name) || isOther(asString(metadata['namespace']), namespaceIn(path));
}

/** Asked for each line of each watch, so the path is not taken apart as `readPath` does. */
function namespaceIn(path: string): string | undefined {
  const [, namespace] = /^\/apis?(?:\/[^/]+){1,2}\/namespaces\/([^/]+)\//.exec(path) ?? [];
  return namespace === undefined ? undefined : decodeURIComponent(namespace);
}

/** Identifies an object within its collection. */
export function keyOf(object: unknown): string {
  const { namespace, name } = metadataOf(object);
  return `${asString(namespace)}/${asString(name)}`;
}

export function selectors({ name, fieldSelector, labelSelector }: WatchTarget): Record<string, string> {
  const fields = [...(name === undefined ? [] : [`metadata.name=${name}`]), ...(fieldSelector ? [fieldSelector] : [])];
  return {
    ...(fields.length === 0 ? {} : { fieldSelector: fields.join(',') }),
    ...(labelSelector ? { labelSelector } : {}),
  };
}
