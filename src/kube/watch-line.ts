import { parseJson } from './http/body.ts';
import { versionOf } from './resource-version.ts';
import type { Refusal } from './status.ts';
import { asRecord, readRefusal } from './status.ts';

/** One line of a watch response, as far as the loop has to tell lines apart. */
export type WatchLine =
  | { kind: 'change'; change: 'ADDED' | 'MODIFIED' | 'DELETED'; object: unknown; resourceVersion: string | undefined }
  /** `initialEnd`: the state that a streaming list began with is complete. */
  | { kind: 'bookmark'; resourceVersion: string | undefined; initialEnd: boolean }
  | { kind: 'error'; refusal: Refusal }
  /** No JSON, or no line of a watch. */
  | { kind: 'malformed' };

const initialEndMark = 'k8s.io/initial-events-end';

/** Total: whatever the bytes are, it is one of the four. */
export function readWatchLine(bytes: Buffer): WatchLine {
  const line = asRecord(parseJson(bytes.toString('utf8')));
  const object = line['object'];
  switch (line['type']) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { kind: 'change', change: line['type'], object, resourceVersion: versionOf(object) };
    case 'BOOKMARK': {
      const annotations = asRecord(asRecord(asRecord(object)['metadata'])['annotations']);
      return {
        kind: 'bookmark',
        resourceVersion: versionOf(object),
        initialEnd: annotations[initialEndMark] === 'true',
      };
    }
    case 'ERROR': {
      const code = asRecord(object)['code'];
      return { kind: 'error', refusal: readRefusal(typeof code === 'number' ? code : 500, object) };
    }
    default:
      return { kind: 'malformed' };
  }
}
