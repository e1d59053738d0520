/** The faults of the matrix, as data: what fails, and when. */
import type { Fault, FaultKind, Where } from '../../sim/faults/fault.ts';

/** Before the streams are in sync, just after the DELETE, or halfway to the first exit. */
export const positions = ['before sync', 'after the DELETE', 'while it stops'] as const;
export type Position = (typeof positions)[number];

/** When a fault happens: `from` is spread into a fault; `few` limits a fault that would otherwise never end. */
export interface Moment {
  position: Position;
  from: Pick<Where, 'afterMs'>;
  few: Pick<Where, 'times'>;
  /** How often a fault of the DELETE request happens: it has no other position in time. */
  tries: number;
  /** Just before the pod's last change, in ms after the DELETE. */
  lastChangeMs: number;
}

export type MakeFaults = (moment: Moment) => Fault[];

const watch = { verb: 'watch' } as const;
const podWatch = { resource: 'pods', verb: 'watch' } as const;
const log = { verb: 'log' } as const;

export const faultCases: Record<string, MakeFaults> = {
  'all streams cut': ({ from, few }) => [{ kind: 'drop', ...from, ...few }],
  'the pod stream cut': ({ from }) => [{ kind: 'drop', ...podWatch, ...from }],
  'the slices stream cut': ({ from }) => [{ kind: 'drop', resource: 'endpointslices', ...watch, ...from }],
  'the events stream cut': ({ from }) => [{ kind: 'drop', resource: 'events', ...watch, ...from }],
  'the logs cut': ({ from }) => [{ kind: 'drop', ...log, ...from }],
  'streams cut for 1.5 s': ({ from }) => [{ kind: 'drop', forMs: 1500, ...from }],
  'half a line of the pod': ({ from }) => [{ kind: 'half-line', ...podWatch, ...from }],
  'half a line of any stream, three times': ({ from }) => [{ kind: 'half-line', times: 3, ...from }],
  'half a line of a log': ({ from }) => [{ kind: 'half-line', ...log, ...from }],
  'garbage instead of JSON': ({ from }) => [
    { kind: 'garbage', ...watch, bytes: '\u0000\u001b]0;x\u0007{"type":\n', ...from },
  ],
  'an empty object as a line': ({ from }) => [{ kind: 'garbage', ...podWatch, bytes: '{}\n', ...from }],
  'history gone, reported in a line': ({ from }) => [{ kind: 'expire', as: 'frame', ...from }],
  'history gone, reported by a status': ({ from }) => [{ kind: 'expire', as: 'status', ...from }],
  '410 to three watches': (moment) => onReopening(moment, { kind: 'status', code: 410, ...watch, times: 3 }),
  '429 with Retry-After': (moment) =>
    onReopening(moment, { kind: 'status', code: 429, retryAfterSeconds: 1, times: 6 }),
  '500 six times': (moment) => onReopening(moment, { kind: 'status', code: 500, times: 6 }),
  '503 for 2 s': (moment) => onReopening(moment, { kind: 'status', code: 503, ...watch, forMs: 2000 }),
  '504 with Retry-After': (moment) =>
    onReopening(moment, { kind: 'status', code: 504, retryAfterSeconds: 1, ...watch, times: 4 }),
  'all streams half-open': ({ from, few }) => [{ kind: 'silent', ...watch, ...from, ...few }],
  'the pod stream half-open': ({ from }) => [{ kind: 'silent', ...podWatch, ...from }],
  'the logs half-open': ({ from }) => [{ kind: 'silent', ...log, ...from }],
  'lines 0.3 s late': ({ from }) => [{ kind: 'delay', ms: 300, ...watch, forMs: 60_000, ...from }],
  'the server down for 2 s': ({ from }) => [{ kind: 'down', forMs: 2000, ...from }],
  'the server down for a minute': ({ from }) => [{ kind: 'down', forMs: 60_000, ...from }],
  // Longer than the report assumes if the response to the DELETE shows the lag; shorter if nothing shows it.
  'a server that is behind': ({ position }) =>
    position === 'before sync' ? [{ kind: 'behind', forMs: 5000 }] : [{ kind: 'behind', forMs: 2000, afterMs: 5 }],
  'a server that is three changes behind': (moment) => onReopening(moment, { kind: 'behind', forMs: 800, by: 3 }),
  'the last change never sent': ({ lastChangeMs, tries }) => [
    { kind: 'lose', ...watch, resource: ['pods', 'endpointslices', 'events'][tries - 1] ?? '', afterMs: lastChangeMs },
  ],
  'keep-alive races': ({ from }) => [{ kind: 'keepalive-race', times: 4, ...from }],
  'no right to read slices': (moment) => refusing(moment, 'endpointslices'),
  'no right to read events': (moment) => refusing(moment, 'events'),
  'no right to read nodes': (moment) => refusing(moment, 'nodes'),
  'no right to read logs': (moment) => refusing(moment, undefined),
  'the answer to the DELETE lost': ({ tries }) => [{ kind: 'delete-accepted-then-cut', times: tries }],
  'the DELETE lost on its way': ({ tries }) => [{ kind: 'delete-lost', times: tries }],
  '429 to the DELETE': ({ tries }) => onDeletion({ kind: 'status', code: 429, retryAfterSeconds: 1, times: tries }),
  '500 to the DELETE': ({ tries }) => onDeletion({ kind: 'status', code: 500, times: tries }),
  'a keep-alive race with the DELETE': ({ tries }) => onDeletion({ kind: 'keepalive-race', times: tries }),
  'a DELETE that is answered before it is executed': ({ tries }) => [{ kind: 'delete-ignored', thenMs: 150 * tries }],
};

/** A status answers a request, so after the start a stream must first break and be opened again. */
function onReopening({ from }: Moment, fault: Fault): Fault[] {
  return from.afterMs === undefined
    ? [fault]
    : [
        { kind: 'drop', ...from },
        { ...fault, ...from },
      ];
}

function refusing({ from }: Moment, resource: string | undefined): Fault[] {
  const what: Where = resource === undefined ? { ...log } : { resource };
  return from.afterMs === undefined
    ? [{ kind: 'status', code: 403, ...what }]
    : [
        { kind: 'drop', ...what, ...from },
        { kind: 'status', code: 403, ...what, ...from },
      ];
}

function onDeletion(fault: Where & FaultKind): Fault[] {
  return (['delete', 'evict'] as const).map((verb) => ({ ...fault, resource: 'pods', verb }));
}
