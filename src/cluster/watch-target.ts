import type { StreamName } from '../trace/observation.ts';

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

export function selectors({ name, fieldSelector, labelSelector }: WatchTarget): Record<string, string> {
  const fields = [...(name === undefined ? [] : [`metadata.name=${name}`]), ...(fieldSelector ? [fieldSelector] : [])];
  return {
    ...(fields.length === 0 ? {} : { fieldSelector: fields.join(',') }),
    ...(labelSelector ? { labelSelector } : {}),
  };
}
