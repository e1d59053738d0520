/**
 * A live exit as a source: opens the streams of DESIGN.md's table, sends the DELETE when they are in sync and only
 * then, and ends when the pod is gone and the last facts are in. Everything that it decides on becomes a sighting, so
 * that a recording of the run replays to the same report.
 */
import { setMaxListeners } from 'node:events';
import type { Cluster } from '../cluster/cluster.ts';
import { getObject } from '../cluster/get.ts';
import { followLog } from '../cluster/logs.ts';
import { listObjects } from '../cluster/list.ts';
import { refusedBy } from '../cluster/refused.ts';
import { watchObjects } from '../cluster/watch.ts';
import { PodexitError } from '../errors.ts';
import type { Began, Interrupted, Mode, Sighting, StreamName } from '../trace/observation.ts';
import { namesStopSignal } from '../trace/observe/line.ts';
import type { Trace } from '../trace/trace.ts';
import { askDeletion } from './ask-deletion.ts';
import { createGate } from './gate.ts';
import type { Lanes } from './lanes.ts';
import { createLanes } from './lanes.ts';
import { nextStep } from './next-step.ts';
import type { Clock } from './clock.ts';
import { checkPod, deletionNotBegun, noSuchPod, podForbidden } from './pod-checks.ts';
import type { Queue } from './queue.ts';
import { createQueue } from './queue.ts';
import type { Raw, Target } from './watched.ts';
import {
  asRaw,
  candidateServices,
  firstTargets,
  metadataOf,
  nodeTargets,
  ownerOf,
  ownerTargets,
  printFields,
  printLabels,
  runningContainers,
  siblingTarget,
  sliceTarget,
} from './watched.ts';

export interface LiveOptions {
  cluster: Cluster;
  clock: Clock;
  namespace: string;
  name: string;
  mode: Exclude<Mode, 'check'>;
  /** Sent with the request; null leaves it to the pod. */
  graceSeconds: number | null;
  /** The user named a grace: then a pod that is already terminating gets one more DELETE. */
  insist: boolean;
  /** ms; null: never; `by-grace`: effective grace + 120 s. */
  timeoutMs: number | null | 'by-grace';
  waitReplacement: boolean;
  followLogs: boolean;
  /** Ask again for as long as a budget refuses the eviction. */
  retryEvict?: boolean;
  /** One sentence for stderr. */
  warn(message: string): void;
}

export interface Live {
  sightings: AsyncIterable<Sighting>;
  /** To be told of each new trace: the source ends by it. */
  onTrace(trace: Trace): void;
  /** Ends the run with the report so far; the deletion itself goes on. */
  interrupt(signal: Interrupted['signal']): void;
  /** Whether a DELETE (or an eviction) has been sent. */
  readonly requested: boolean;
}

/** How long the lanes may keep the DELETE waiting (DESIGN.md "before the DELETE"). */
const syncPatience = 3000;
/** How long a DELETE that was accepted may take to mark the pod: some webhooks delay it. */
const markPatience = 30_000;
const byGrace = 120_000;

export function liveSource(options: LiveOptions): Live {
  const queue = createQueue<Sighting>();
  const stop = new AbortController();
  // One listener for each stream and request that is open: more than Node's guess of what is a leak.
  setMaxListeners(0, stop.signal);
  const run = {
    options,
    queue,
    signal: stop.signal,
    trace: undefined as Trace | undefined,
    requested: false,
    timers: new Map<string, () => void>(),
    warned: new Set<StreamName>(),
    lanes: createLanes(() => consider()),
  };
  const close = (): boolean => {
    if (stop.signal.aborted) return false;
    run.timers.forEach((cancel) => cancel());
    stop.abort();
    // Wakes whoever waits for that alone.
    run.lanes.doubt();
    return true;
  };
  const end = (): void => void (close() && queue.end());
  const fail = (error: unknown): void => void (close() && queue.fail(error));
  const now = options.clock.now;
  let leaving = false;
  const last = (sighting: Sighting): void => {
    if (leaving) return;
    leaving = true;
    for (const { stream, since } of run.lanes.lost())
      void queue.put({ at: now(), kind: 'gap', stream, from: since, cause: 'disconnected' });
    void queue.put(sighting).then(end);
  };
  const consider = (): void => {
    const step = leaving || stop.signal.aborted || !run.trace ? undefined : nextStep(run.trace, run.lanes, now());
    if (step?.kind === 'end') end();
    if (step?.kind === 'settled') last({ at: now(), kind: 'timer', name: 'settled' });
    if (step?.kind !== 'wait') return;
    run.lanes.doubt();
    run.timers.get('settled')?.();
    run.timers.set('settled', options.clock.setTimeout(consider, step.until - now()));
  };
  void conduct(run, { fail, last }).catch(fail);
  return {
    sightings: queue,
    onTrace: (trace) => {
      run.trace = trace;
      consider();
    },
    interrupt: (signal) => last({ at: now(), kind: 'interrupted', signal }),
    get requested() {
      return run.requested;
    },
  };
}

interface Run {
  readonly options: LiveOptions;
  readonly queue: Queue<Sighting>;
  readonly signal: AbortSignal;
  trace: Trace | undefined;
  requested: boolean;
  readonly timers: Map<string, () => void>;
  readonly warned: Set<StreamName>;
  readonly lanes: Lanes;
}

interface Ends {
  fail(error: unknown): void;
  /** Tells one more sighting and ends. */
  last(sighting: Sighting): void;
}

/** The whole run, from the first request to the DELETE; the end comes by onTrace. */
async function conduct(run: Run, ends: Ends): Promise<void> {
  const { options, queue } = run;
  const { namespace, name, clock } = options;
  const first = firstTargets(namespace, name);
  const gate = createGate();
  const held: Sighting[] = [];
  // `began` comes first, and which mode it is only the pod can tell: until then everything is held back.
  let tell = async (sighting: Sighting): Promise<void> => void held.push(sighting);
  const deliver = (sighting: Sighting): Promise<void> => tell(sighting);

  const pod = new Promise<Raw | undefined>((resolve) => {
    void follow(run, ends, first.pod, gate, deliver, (sighting) => {
      if (sighting.kind === 'listed') resolve(sighting.objects[0] as Raw | undefined);
    });
  });
  void follow(run, ends, first.events, gate, deliver);
  const services = listServices(run, first.services, gate, deliver);

  const raw = await pod;
  if (!raw) throw await noSuchPod(options.cluster, namespace, name);
  const terminating = metadataOf(raw)['deletionTimestamp'] !== undefined;
  const deletes = options.mode !== 'attach' && (!terminating || options.insist);
  if (deletes) checkPod(raw);
  if (terminating && options.mode !== 'attach')
    options.warn(
      deletes
        ? `pod "${name}" is already terminating; another request seldom shortens a kill that is running`
        : `pod "${name}" is already terminating: attached to it, no DELETE is sent`,
    );
  const began: Began = {
    kind: 'began',
    mode: deletes ? options.mode : 'attach',
    namespace,
    name,
    graceSeconds: deletes ? options.graceSeconds : null,
    timeoutSeconds: typeof options.timeoutMs === 'number' ? options.timeoutMs / 1000 : null,
    waitReplacement: options.waitReplacement,
  };
  void queue.put({ at: held[0]?.at ?? clock.now(), ...began });
  held.forEach((sighting) => void queue.put(sighting));
  tell = (sighting) => queue.put(sighting);

  openLanes(run, ends, raw, services, gate, deliver);
  startTimeout(run, ends, raw);
  if (!deletes) return;
  await inSync(run, gate, deliver);
  await request(run, ends, raw, deliver);
}

type Deliver = (sighting: Sighting) => Promise<void>;
type Gate = ReturnType<typeof createGate>;

/** Runs one list-and-watch into the queue. Only the pod's own stream can end the run; other lanes are lost with a word. */
async function follow(
  run: Run,
  { fail }: Ends,
  target: Target,
  gate: Gate,
  deliver: Deliver,
  look?: (sighting: Sighting) => void,
): Promise<void> {
  const { options, signal } = run;
  gate.expect(target.stream);
  const health = run.lanes.open(target.stream);
  try {
    for await (const sighting of watchObjects(options.cluster, watchTarget(target), { signal, health })) {
      if (sighting.kind === 'refused' && target.stream === 'pod') throw podForbidden(options.namespace, sighting);
      if (sighting.kind === 'refused') warnRefused(run, sighting);
      look?.(sighting);
      await deliver(sighting);
      if (sighting.kind === 'synced' || sighting.kind === 'refused') gate.open(target.stream);
    }
  } catch (error) {
    if (signal.aborted) return;
    if (target.stream === 'pod' || !(error instanceof PodexitError)) fail(error);
    else await loseLane(run, target.stream, gate, deliver);
  } finally {
    run.lanes.close(health);
  }
}

async function loseLane({ options }: Run, stream: StreamName, gate: Gate, deliver: Deliver): Promise<void> {
  const at = options.clock.now();
  await deliver({ at, kind: 'gap', stream, from: at, cause: 'disconnected' });
  gate.open(stream);
}

const watchTarget = ({ stream, path, name, fieldSelector, labelSelector }: Target) => {
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
function warnRefused(
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

/** One paged list, never watched: Services change rarely, and a namespace may have a thousand. */
async function listServices(run: Run, target: Target, gate: Gate, deliver: Deliver): Promise<Raw[] | undefined> {
  const { options, signal } = run;
  gate.expect('services');
  gate.expect('endpointslices');
  try {
    const result = await listObjects(options.cluster, watchTarget(target), { signal });
    for (const dated of result.dated) await deliver(dated);
    if (result.kind === 'listed') return result.objects.map(asRaw);
    const refused = refusedBy(options.cluster, watchTarget(target), { refusal: result.refusal, verb: 'list' });
    if (refused.kind === 'refused') warnRefused(run, refused);
    await deliver(refused);
  } catch {
    if (!signal.aborted) await loseLane(run, 'services', gate, deliver);
  }
  return undefined;
}

/** All that can be asked once the pod is known. */
function openLanes(
  run: Run,
  ends: Ends,
  pod: Raw,
  services: Promise<Raw[] | undefined>,
  gate: Gate,
  deliver: Deliver,
): void {
  const { options } = run;
  const { namespace } = options;
  void services.then((all) => openRoutes(run, ends, pod, all, gate, deliver));
  const node = asRaw(pod['spec'])['nodeName'];
  if (typeof node === 'string')
    for (const target of nodeTargets(node)) void follow(run, ends, target, createGate(), deliver);
  const owner = ownerOf(pod);
  if (owner) openOwner(run, ends, owner, deliver);
  if (options.followLogs)
    for (const container of runningContainers(pod)) void followContainer(run, container, gate, deliver);
  void lookAtNamespace(run, namespace, deliver);
}

async function openRoutes(
  run: Run,
  ends: Ends,
  pod: Raw,
  services: Raw[] | undefined,
  gate: Gate,
  deliver: Deliver,
): Promise<void> {
  const { namespace, clock } = run.options;
  if (!services) return ['services', 'endpointslices'].forEach(gate.open);
  const candidates = candidateServices(services, pod);
  const at = clock.now();
  await deliver({ at, kind: 'listed', stream: 'services', resourceVersion: '', objects: candidates });
  gate.open('services');
  const slices = sliceTarget(
    namespace,
    candidates.map((service) => String(metadataOf(service)['name'])),
  );
  if (slices) await follow(run, ends, slices, gate, deliver);
  else gate.open('endpointslices');
}

/** The owner, the owner's owner, and the pods of the topmost one's selector. */
function openOwner(run: Run, ends: Ends, owner: { kind: string; name: string }, deliver: Deliver, below?: Raw): void {
  const { namespace } = run.options;
  const targets = ownerTargets(namespace, owner);
  let seen = false;
  for (const target of targets)
    void follow(run, ends, target, createGate(), deliver, (sighting) => {
      if (target.stream !== 'owner' || sighting.kind !== 'listed' || seen) return;
      seen = true;
      const object = asRaw(sighting.objects[0]);
      const above = ownerOf(object);
      if (above && ownerTargets(namespace, above).length > 0) openOwner(run, ends, above, deliver, object);
      else openSiblings(run, ends, Object.keys(object).length > 0 ? object : below, deliver);
    });
  if (targets.length === 0) openSiblings(run, ends, below, deliver);
}

function openSiblings(run: Run, ends: Ends, owner: Raw | undefined, deliver: Deliver): void {
  const target = owner && siblingTarget(run.options.namespace, owner);
  if (target) void follow(run, ends, target, createGate(), deliver);
}

async function followContainer(run: Run, container: string, gate: Gate, deliver: Deliver): Promise<void> {
  const { options, signal } = run;
  const lane = `logs/${container}`;
  gate.expect(lane);
  try {
    const log = followLog(
      options.cluster,
      { namespace: options.namespace, pod: options.name, container },
      { signal, matters: namesStopSignal },
    );
    for await (const sighting of log) {
      if (sighting.kind === 'refused') warnRefused(run, sighting);
      await deliver(sighting);
      gate.open(lane);
    }
  } catch {
    // Credentials that ended or a bug in the stream: the pod's own stream says so if it matters to more than this lane.
  }
  gate.open(lane);
}

async function lookAtNamespace({ options, signal }: Run, namespace: string, deliver: Deliver): Promise<void> {
  try {
    const answer = await getObject(options.cluster, `/api/v1/namespaces/${encodeURIComponent(namespace)}`, { signal });
    if (answer.status === 200)
      await deliver({
        at: answer.at,
        kind: 'listed',
        stream: 'namespace',
        resourceVersion: '',
        objects: [answer.body],
      });
  } catch {
    // A trigger that stays unknown is no reason to stop.
  }
}

/** Waits for the lanes, for a while; what is late is a stated gap. */
async function inSync({ options, signal }: Run, gate: Gate, deliver: Deliver): Promise<void> {
  const late = await gate.wait(options.clock, syncPatience, signal);
  const at = options.clock.now();
  const streams = new Set(late.map((lane) => (lane.startsWith('logs/') ? 'logs' : (lane as StreamName))));
  for (const stream of streams) await deliver({ at, kind: 'gap', stream, from: at, cause: 'not-synced' });
}

async function request(run: Run, { fail }: Ends, pod: Raw, deliver: Deliver): Promise<void> {
  const { options, signal } = run;
  const uid = metadataOf(pod)['uid'];
  const { cluster, namespace, name, graceSeconds, mode } = options;
  if (signal.aborted || run.trace?.gone) return;
  const target = { namespace, name, uid: typeof uid === 'string' ? uid : '', graceSeconds, evict: mode === 'evict' };
  const asking = { signal, retryEvict: options.retryEvict ?? false, warn: options.warn };
  for await (const sighting of askDeletion(cluster, target, pod, asking)) {
    // Not before: an eviction may wait for its budget until somebody gives up.
    if (sighting.kind === 'requested') run.requested = true;
    await deliver(sighting);
  }
  if (signal.aborted || run.trace?.deletion || run.trace?.gone) return;
  run.timers.set(
    'marked',
    options.clock.setTimeout(() => {
      if (!run.trace?.deletion && !run.trace?.gone) fail(deletionNotBegun(namespace, name, markPatience / 1000));
    }, markPatience),
  );
}

function startTimeout(run: Run, { last }: Ends, pod: Raw): void {
  const { options } = run;
  const spec = asRaw(pod['spec'])['terminationGracePeriodSeconds'];
  const grace = options.graceSeconds ?? (typeof spec === 'number' ? spec : 30);
  const ms = options.timeoutMs === 'by-grace' ? grace * 1000 + byGrace : options.timeoutMs;
  if (ms === null) return;
  run.timers.set(
    'timeout',
    options.clock.setTimeout(() => last({ at: options.clock.now(), kind: 'timer', name: 'timeout' }), ms),
  );
}
