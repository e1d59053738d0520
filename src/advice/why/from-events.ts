/** Reconstructs an exit from what a cluster still has: Events of about an hour, the pod, and objects around it. */
import type { CoreV1Event, V1Pod } from '@kubernetes/client-node';
import { PodexitError } from '../../errors.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { getObject } from '../../kube/get.ts';
import { podPath } from '../../kube/resource-path.ts';
import { narrowPod } from '../../model/kube.ts';
import { asObject } from '../../model/observe/read.ts';
import { conditionOf, statusesOf } from '../../model/pod.ts';
import { isPlausibleTime } from '../../model/stamps.ts';
import { targetText, workloadKinds, type Target } from '../../run/choosing/target.ts';
import { listAll, readWorkloads } from '../read-cluster.ts';
import { afterText, lengthText, plural } from '../../verdict/words.ts';
import { factsOf, timeIn, type EventFacts } from './event-facts.ts';
import { endedPods, gonePod, nodeOfPod, type GonePod, type NamespaceHistory } from './gone-pod.ts';
import type { PastExit, WhyMoment } from './report.ts';

/** Objects that may not be listed are left out; Events are required. Throws `why.events`. */
export async function readHistory(cluster: Cluster): Promise<NamespaceHistory> {
  const events = await listAll(cluster, '/api/v1', 'events');
  if (!Array.isArray(events))
    throw new PodexitError(
      'why.events',
      `the Events of namespace "${cluster.namespace}" cannot be read (${events.status})`,
      'Ask for list of events, or give recordings with --from, or an audit log with --audit-log.',
    );
  const { objects } = await readWorkloads(cluster);
  const pods = objects.filter(({ kind }) => kind === 'Pod') as V1Pod[];
  return { facts: factsOf(events as CoreV1Event[]), pods, workloads: objects.filter(({ kind }) => kind !== 'Pod') };
}

/** The name of the workload's pod that ended worst. Throws `why.unknown` and `why.target`. */
export function podOfWorkload(target: Exclude<Target, { kind: 'pod' }>, history: NamespaceHistory, namespace: string) {
  if (target.kind !== 'workload' || target.resource === 'services')
    throw new PodexitError(
      'why.target',
      `Events do not show which pods belonged to ${targetText(target)}`,
      'Name a pod or the workload that owns it, such as deployment/NAME.',
    );
  const own = endedPods(history).find(({ owners }) =>
    owners.some((one) => one.kind === workloadKinds[target.resource].kind && one.name === target.name),
  );
  if (own) return own.name;
  throw unknownPod(targetText(target), namespace);
}

const unknownPod = (what: string, namespace: string): PodexitError =>
  new PodexitError(
    'why.unknown',
    `no Event shows an exit of ${what} in namespace "${namespace}" (Events are kept for about an hour)`,
    'Give recordings with --from, or an audit log with --audit-log; kubectl podexit why lists what is known.',
  );

/** Throws `why.terminating` and `why.unknown`. */
export async function fromEvents(cluster: Cluster, name: string, all: NamespaceHistory): Promise<PastExit> {
  const { namespace } = cluster;
  const answer = await getObject(cluster, podPath(namespace, name));
  const pod = answer.status === 200 ? (asObject(answer.body) as V1Pod) : undefined;
  const hasEnded = pod && statusesOf(narrowPod(pod)).some((one) => one.restartCount > 0 || one.state.terminated);
  // The exit of a pod that is still there is later than the end of those that had its name before.
  const isOfIt = (fact: EventFacts): boolean => fact.name !== name || fact.uid === pod?.metadata?.uid;
  const history = hasEnded ? { ...all, facts: all.facts.filter(isOfIt) } : all;
  const node = nodeOfPod(name, history);
  const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${node}`;
  const nodeEvents =
    node === undefined ? [] : await listAll(cluster, '/api/v1', 'events', { namespace: 'default', fieldSelector });
  const gone = gonePod(name, history, Array.isArray(nodeEvents) ? factsOf(nodeEvents as CoreV1Event[]) : []);
  if (pod && (gone.uid === undefined || pod.metadata?.uid === gone.uid)) {
    if (pod.metadata?.deletionTimestamp === undefined) return presentPod(pod, namespace, gone);
    throw new PodexitError(
      'why.terminating',
      `pod "${name}" in namespace "${namespace}" is still terminating`,
      `Watch it: kubectl podexit ${name} -n ${namespace} --attach${cluster.connectionFlags}`,
    );
  }
  if (gone.moments.length === 0) throw unknownPod(`pod "${name}"`, namespace);
  const { uid, wasForced, problem: _problem, stoppedFor: _stoppedFor, ...known } = gone;
  const [again = name] = known.owners.slice(-1).map((one) => `${one.kind.toLowerCase()}/${one.name} --all-terminating`);
  return {
    pod: { namespace, name, uid, node },
    basis: 'events',
    heading: 'reconstructed from Events, ±1s',
    outcome: wasForced ? 'forced' : 'unknown',
    summary: summaryOf(gone),
    ...known,
    cannotTell: [
      'exit codes, and whether a container was killed: the pod is gone, and no Event says it',
      ...(gone.trigger === 'unknown' ? ['which user deleted it'] : []),
      ...(gone.grace || !wasStopped(gone) ? [] : ['its grace period: no template of an owner shows it']),
      ...(Array.isArray(nodeEvents)
        ? []
        : [`whether node ${node} was drained or ran out of memory: its Events cannot be read`]),
    ],
    nextTime: `kubectl podexit ${again} --record FILE while it stops, or an audit log (--audit-log), shows who deletes it and how it exits`,
  };
}

const wasStopped = ({ moments }: GonePod): boolean => moments.some((one) => one.name === 'stopping');

function summaryOf(gone: GonePod): string {
  const end = gone.wasForced
    ? 'force-deleted: the next pod of its name was there before its kubelet started termination'
    : wasStopped(gone)
      ? `stopped by the kubelet${gone.stoppedFor ? `: ${gone.stoppedFor}` : ''}`
      : 'gone, and no Event says that its kubelet stopped a container';
  const { seconds, atItsEnd = 'unknown' } = gone.grace ?? {};
  const there = { gone: 'gone before its grace period of', 'still-there': 'still there after its grace period of' };
  const grace = atItsEnd === 'unknown' ? '' : `${there[atItsEnd]} ${seconds}s${atItsEnd === 'gone' ? ' ended' : ''}; `;
  return `${end}; deleted by ${gone.by}; ${grace}no Event says how its containers exited`;
}

/** The pod still exists: nobody deleted it, but its containers may have exited and been restarted. */
export function presentPod(pod: V1Pod, namespace: string, gone: GonePod): PastExit {
  const narrowed = narrowPod(pod);
  const { phase = 'unknown', reason } = narrowed.status;
  const ended = statusesOf(narrowed).flatMap(({ name, state, lastState, restartCount }) => {
    const last = state.terminated ?? lastState?.terminated;
    if (!last) return [];
    const at = timeIn(last.finishedAt);
    const what = `${name} exited ${last.exitCode}${last.reason === undefined ? '' : ` (${last.reason})`}`;
    const text = `${what}${probeText(pod, name, at, gone)}, restarted ${plural(restartCount, 'time')} so far`;
    return [{ name, what, text, at, isOom: last.reason === 'OOMKilled' }];
  });
  const texts = [`phase ${phase}${reason === undefined ? '' : ` (${reason})`}`, ...ended.map(({ text }) => text)];
  // The action of restartPolicyRules (KEP-5532, beta in 1.36).
  const allAtOnce = 'the exit of one container restarted all of them at once, without preStop hook and grace period';
  if (conditionOf(narrowed, 'AllContainersRestarting')) texts.push(`${allAtOnce} (RestartAllContainers)`);
  const exits = ended
    .filter(({ at }) => isPlausibleTime(at))
    .map(({ name, what, at }): WhyMoment => {
      return { name: 'exited', container: name, what, earliest: at, latest: at + 1000, source: 'its status' };
    });
  return {
    pod: { namespace, name: narrowed.metadata.name, uid: pod.metadata?.uid, node: narrowed.spec.nodeName },
    basis: 'events',
    heading: 'from its status and Events',
    outcome: ended.some(({ isOom }) => isOom) ? 'oom' : 'unknown',
    summary: `not deleted, ${texts.join('; ')}`,
    trigger: 'unknown',
    moments: [...gone.moments, ...exits].sort((a, b) => a.earliest - b.earliest),
    cannotTell: ended.length > 0 ? ['exits before the last one: a status keeps one of each container'] : [],
  };
}

/** Which probe had failed, how long the container got after that, and its grace period; empty if no Event says it. */
function probeText(pod: V1Pod, name: string, ended: number, { moments }: GonePod): string {
  const isOfStop = (one: WhyMoment): boolean =>
    one.name === 'restarted' && one.container === name && one.earliest <= ended + 1000;
  const stop = moments.findLast(isOfStop);
  const kind = stop && /failed (liveness|startup) probe/.exec(stop.what)?.[1];
  if (!stop || kind === undefined) return '';
  const spec = pod.spec?.containers.find((container) => container.name === name);
  const probe = kind === 'liveness' ? spec?.livenessProbe : spec?.startupProbe;
  const grace = probe?.terminationGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 30;
  // Cut to whole seconds are the exit, and the Event unless its name tells its time. One node wrote both.
  const doubt = stop.latest % 1000 === 0 ? 1000 : 0;
  const took = ended - (stop.earliest + stop.latest) / 2;
  const length = lengthText({ min: took - doubt, max: took + 1000, shown: took + (1000 - doubt) / 2 });
  return `${afterText(length, `the kubelet stopped it for its ${kind} probe`)} (grace period ${grace}s)`;
}
