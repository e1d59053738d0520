import type { StreamName } from '../model/observation.ts';
import { readPath } from './resource-path.ts';
import { asRecord, asText } from './status.ts';

/** One collection, or a narrowed part of it. */
export interface WatchTarget {
  stream: StreamName;
  /** The collection, e.g. `/api/v1/namespaces/shop/pods`. */
  path: string;
  /** The one object: narrows by `metadata.name`, and is what is asked for when the stream has long been silent. */
  name?: string;
  fieldSelector?: string;
  labelSelector?: string;
}

/**
 * Of another name or another namespace than was asked for: from a server, or something before it, that does not respect
 * the selector.
 */
export function isForeign({ path, name }: WatchTarget, object: unknown): boolean {
  const metadata = asRecord(asRecord(object)['metadata']);
  const differs = (received: string, asked: string | undefined): boolean =>
    received !== '' && asked !== undefined && received !== asked;
  return differs(asText(metadata['name']), name) || differs(asText(metadata['namespace']), readPath(path).namespace);
}

/** Identifies an object within its collection. */
export function keyOf(object: unknown): string {
  const { namespace, name } = asRecord(asRecord(object)['metadata']);
  return JSON.stringify([namespace, name]);
}

export function selectors({ name, fieldSelector, labelSelector }: WatchTarget): Record<string, string> {
  const fields = [...(name === undefined ? [] : [`metadata.name=${name}`]), ...(fieldSelector ? [fieldSelector] : [])];
  return {
    ...(fields.length === 0 ? {} : { fieldSelector: fields.join(',') }),
    ...(labelSelector ? { labelSelector } : {}),
  };
}
