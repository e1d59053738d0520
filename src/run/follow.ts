/** One stream of a run: from its requests to its sightings, and what it costs to do without it. */
import { TransportFailure } from '../kube/http/failure.ts';
import { followLog } from '../kube/logs.ts';
import { watchObjects } from '../kube/watch.ts';
import { PodexitError } from '../errors.ts';
import type { Sighting, StreamName } from '../model/observation.ts';
import { namesStopSignal } from '../model/observe/line.ts';
import type { Gate } from './gate.ts';
import { fateInBrief, howFar } from './how-far.ts';
import type { Run } from './live.ts';
import { refusedPods } from '../kube/pod-refused.ts';
import type { Raw, Target } from './watched.ts';
import { printFields, printLabels } from './selectors.ts';
import { asRaw, metadataOf, uidOf } from './watched.ts';

/** Runs one list-and-watch. Only the pod's own stream can end the run; other lanes are lost with a word. `look` sees all first. */
export async function follow(run: Run, target: Target, gate: Gate, look?: (sighting: Sighting) => void): Promise<void> {
  const { options, signal } = run;
  gate.expect(target.stream);
  const health = run.lanes.open(target.stream, options.clock.now());
  try {
    for await (const sighting of watchObjects(options.cluster, watchTarget(target), { signal, health })) {
      if (sighting.kind === 'refused' && target.stream === 'pod') {
        if (isUnderWay(run)) return await leaveBlind(run, sighting.message);
        throw refusedPods(options.cluster, options.namespace, sighting);
      }
      if (sighting.kind === 'refused') warnRefused(run, sighting);
      if (isTwiceTold(run, target, sighting)) continue;
      look?.(sighting);
      await run.deliver(sighting);
      if (sighting.kind === 'synced' || sighting.kind === 'refused') gate.open(target.stream);
    }
  } catch (error) {
    if (target.stream === 'pod' && isUnderWay(run) && error instanceof PodexitError)
      await leaveBlind(run, error.message);
    else if (target.stream === 'pod' && !signal.aborted) run.fail(error);
    else await lose(run, { stream: target.stream }, error);
  } finally {
    gate.open(target.stream);
    run.lanes.close(health);
  }
}

/**
 * The stream of its siblings tells the pod too, and nothing is concluded from that (reduce/siblings.ts); to read it again
 * would stand before what is told of the siblings.
 */
const isTwiceTold = ({ trace }: Run, { stream }: Target, sighting: Sighting): boolean =>
  stream === 'siblings' && sighting.kind === 'changed' && uidOf(asRaw(sighting.object)) === trace?.uid;

const isUnderWay = ({ requested, trace }: Run): boolean => requested || trace?.deletion !== undefined;

/** The pod cannot be watched any more, but what was seen is not lost for it. */
async function leaveBlind(run: Run, why: string): Promise<void> {
  const { options, signal, deliver, last } = run;
  if (signal.aborted) return;
  const at = options.clock.now();
  const fate = fateInBrief[howFar(run.trace, run.requested)];
  options.warn(
    `pod "${options.name}" cannot be watched any longer (${why}); ${fate}, and the report covers what was seen until now`,
  );
  await deliver({ at, kind: 'gap', stream: 'pod', from: at, cause: 'refused' });
  last({ at, kind: 'timer', name: 'settled' });
}

/** One container's log, for its timing. */
export async function followContainer(run: Run, pod: Raw, container: string, gate: Gate): Promise<void> {
  const { options, signal } = run;
  const { uid } = metadataOf(pod);
  const lane = `logs/${container}`;
  gate.expect(lane);
  const health = run.lanes.open('logs', options.clock.now());
  try {
    const log = followLog(
      options.cluster,
      { namespace: options.namespace, pod: options.name, container, ...(typeof uid === 'string' ? { uid } : {}) },
      { signal, matters: namesStopSignal },
    );
    for await (const sighting of log) {
      if (sighting.kind === 'refused') warnRefused(run, sighting);
      await run.deliver(sighting);
      if (sighting.kind === 'log-opened' || sighting.kind === 'refused') gate.open(lane);
    }
  } catch (error) {
    await lose(run, { stream: 'logs', container }, error);
  } finally {
    gate.open(lane);
    run.lanes.close(health);
  }
}

/** A lane that failed for good is a stated gap; an error that nobody foresaw ends the run, and keeps its stack. */
export async function lose(
  { options, signal, deliver, fail }: Run,
  lane: { stream: StreamName; container?: string },
  error: unknown,
): Promise<void> {
  if (signal.aborted) return;
  if (!(error instanceof PodexitError || error instanceof TransportFailure)) return fail(error);
  const at = options.clock.now();
  await deliver({ at, kind: 'gap', ...lane, from: at, cause: 'disconnected' });
}

/** A target as the two selectors of a request. */
export const watchTarget = ({ stream, path, name, fieldSelector, labelSelector }: Target) => {
  const { 'metadata.name': _byName, ...fields } = fieldSelector ?? {};
  return {
    stream,
    path,
    ...(name === undefined ? {} : { name }),
    ...(Object.keys(fields).length > 0 ? { fieldSelector: printFields(fields) } : {}),
    ...(labelSelector ? { labelSelector: printLabels(labelSelector) } : {}),
  };
};

/** Said once for each lane that a report misses; lanes that only sharpen others stand in the report alone. */
export function warnRefused(
  { options, warned }: Run,
  { verb, resource, group, stream, status }: Extract<Sighting, { kind: 'refused' }>,
): void {
  const lost = lostWithout[stream];
  if (lost === undefined || warned.has(stream)) return;
  warned.add(stream);
  const of = group === '' ? resource : `${resource}.${group}`;
  options.warn(
    status === 403
      ? `no permission to ${verb} ${of}: ${lost}`
      : `the server refuses to ${verb} ${of} (${status}): ${lost}`,
  );
}

const lostWithout: Partial<Record<StreamName, string>> = {
  services: 'routes are missing',
  endpointslices: 'routes are missing',
  events: 'when the kubelet began and how hooks ended is known less exactly',
  logs: 'signal and exit are known less exactly',
  node: 'silence of the node is not seen',
  owner: 'what deleted the pod may stay unknown',
  siblings: 'the replacement is not seen',
};
