/**
 * What is concluded for the first time takes up to three times as long as later, since nothing of it has run before, and it is
 * due just when most is to be told. So it is drawn once in advance, while the DELETE is on its way, from news that is only
 * imagined, and thrown away (docs/bench.md).
 */
import { observe } from '../model/observe.ts';
import type { Changed, Sighting, StreamName } from '../model/observation.ts';
import type { Pod } from '../model/kube.ts';
import { reduce } from '../model/reduce.ts';
import { printTime } from '../model/stamps.ts';
import type { Trace } from '../model/trace.ts';
import type { Stage } from './audience.ts';
import type { Ports } from './ports.ts';
import type { Audience } from './run.ts';

/** The stage as the audience of a live run. */
export function rehearsing(stage: Stage, { nextTurn, brace }: Pick<Ports, 'nextTurn' | 'brace'>): Audience {
  let isSerious = false;
  let hasBegun = false;
  const imagine = (trace: Trace, sighting: Sighting, seq: number): Trace => {
    const imagined = reduce(trace, observe(sighting, seq, { logText: false }));
    stage.rehearse?.(imagined);
    return imagined;
  };
  const rehearse = (trace: Trace, seq: number, [turn, ...rest]: readonly Sighting[][]): void => {
    if (!turn || isSerious) return;
    try {
      const imagined = turn.reduce((known, sighting, index) => imagine(known, sighting, seq + index), trace);
      nextTurn(() => rehearse(imagined, seq + turn.length, rest));
    } catch {
      // It will fail again when it counts, and is told then.
    }
  };
  return {
    step: (trace, observation) => {
      stage.step(trace, observation);
      isSerious ||= trace.deletion !== undefined;
      const pod = trace.pod?.value;
      if (observation.kind !== 'requested' || !pod || !stage.rehearse || hasBegun) return;
      // A server that asks to come back later is sent the DELETE again.
      hasBegun = true;
      // In the loop's next turn: the DELETE itself is written in this one.
      nextTurn(() => {
        if (isSerious) return;
        brace();
        rehearse(trace, observation.seq + 1, newsOf(pod, trace.now));
      });
    },
  };
}

/**
 * What a DELETE is usually followed by, in order, each thing as it is watched, in turns of the loop: between the first two the
 * answers to other requests would come, and the second would be drawn when it counts. At `at`, client ms.
 */
function newsOf(pod: Pod, at: number): Sighting[][] {
  const { metadata, spec, status } = pod;
  const now = printTime(at, 'earlier');
  const grace = spec.terminationGracePeriodSeconds ?? 30;
  const marked = {
    ...metadata,
    resourceVersion: `${metadata.resourceVersion ?? ''}0`,
    deletionTimestamp: printTime(at + grace * 1000, 'earlier'),
    deletionGracePeriodSeconds: grace,
  };
  const other = { name: 'imagined', uid: 'imagined', creationTimestamp: now };
  const exited = (status.containerStatuses ?? []).map((one) => ({
    ...one,
    ready: false,
    state: { terminated: { exitCode: 0, reason: 'Completed', finishedAt: now } },
  }));
  const over = { ...pod, metadata: marked, status: { ...status, phase: 'Succeeded', containerStatuses: exited } };
  const last = { ...over, metadata: { ...marked, deletionGracePeriodSeconds: 0 } };
  const newcomer = { ...metadata, ...other, resourceVersion: `${marked.resourceVersion}0` };
  const news = (stream: StreamName, change: Changed<unknown>['change'], object: unknown): Sighting => ({
    kind: 'changed',
    at,
    stream,
    change,
    object,
  });
  return [
    [news('pod', 'MODIFIED', { ...pod, metadata: marked }), news('events', 'ADDED', killingOf(pod, other))],
    [news('siblings', 'ADDED', { ...pod, metadata: newcomer, status: { phase: 'Pending' } })],
    [news('pod', 'MODIFIED', over)],
    [news('pod', 'MODIFIED', last)],
    [news('pod', 'DELETED', last)],
  ];
}

function killingOf({ metadata: { name, uid }, spec }: Pod, metadata: { creationTimestamp: string }): unknown {
  const container = spec.containers[0]?.name ?? '';
  return {
    kind: 'Event',
    metadata,
    reason: 'Killing',
    type: 'Normal',
    reportingComponent: 'kubelet',
    message: `Stopping container ${container}`,
    involvedObject: { kind: 'Pod', name, uid, fieldPath: `spec.containers{${container}}` },
    firstTimestamp: metadata.creationTimestamp,
    lastTimestamp: metadata.creationTimestamp,
  };
}
