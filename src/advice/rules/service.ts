/** Rules about what clients of the pod's Services notice, and about who serves while the pod is replaced. */
import { list, plural, servicesNamed } from '../../verdict/words.ts';
import { countOf, startsFirst, stopsAllAtOnce } from '../capacity.ts';
import { at, error, note, warning, type Problem } from '../problem.ts';
import type { BudgetSpec, ServiceSpec } from '../neighbours.ts';
import { companionsOf, hookSecondsOf, serves, servicesOfClients, servicesTo, containersThatServe } from '../roles.ts';
import type { Situation } from '../situation.ts';
import { signalText } from './stop.ts';

const namesOf = (services: readonly ServiceSpec[]): string[] => [...new Set(services.map(({ name }) => name))];

/** The next pod waits for the volume of this one, as it must: nothing better is known for it. */
const mustWait = ({ capacity: { rollout, inPlace } }: Situation): boolean =>
  rollout?.isRecreate === true && inPlace.some(({ why }) => why === 'volume');

/** Without a hook that takes time, the stop signal comes while clients still know the endpoint. */
const drainRace = (spec: Situation): Problem[] =>
  (mustWait(spec) ? [] : containersThatServe(spec)).flatMap((container) => {
    const { name, hook } = container;
    const services = servicesTo(container, spec);
    const isHeadless = services.every(({ clients }) => clients === 'headless');
    const who = isHeadless ? 'clients that resolved the name of' : 'load balancers behind';
    const meanwhile = `while ${who} ${servicesNamed(namesOf(services))} may still send requests`;
    const seconds = hookSecondsOf(container);
    // A hook of another kind than a sleep takes an unknown time.
    if (seconds === undefined || seconds >= 1 || hook?.fails) return [];
    if (hook && !hook.stopsServer && !hook.isPlainSleep) return [];
    if (!hook?.stopsServer && container.hasOwnDelay) return [];
    const what = hook?.stopsServer
      ? `the preStop hook of ${name} ${hook.mayStop ? 'may stop' : 'stops'} the server at once,`
      : `${name} has no preStop hook${hook ? ' that takes a second' : ''}: ${signalText(spec, container)} comes`;
    return [warning('drain-race', `${what} ${meanwhile}`, at(container, ...(hook ? ['lifecycle', 'preStop'] : [])))];
  });

/** The serving container goes on for the length of its hook, and what it needs has been stopped by then. */
function companions(spec: Situation): Problem[] {
  const serving = containersThatServe(spec);
  const longest = Math.max(0, ...serving.map((one) => hookSecondsOf(one) ?? 0));
  if (longest < 1) return [];
  return companionsOf(spec, serving).flatMap((container) => {
    const seconds = hookSecondsOf(container);
    if (seconds === undefined || seconds >= longest) return [];
    const hook = seconds < 1 ? 'has no preStop hook that keeps it running' : `has a preStop hook of ${seconds}s only`;
    const front = list(serving.map(({ name }) => name));
    const message = `${container.name} ${hook}: it stops while ${front} still serves for ${longest}s, and requests that need it fail`;
    return [warning('companion-stops-first', message, at(container))];
  });
}

const unprobed = (spec: Situation): Problem[] =>
  containersThatServe(spec)
    .filter(({ hasReadinessProbe }) => !hasReadinessProbe)
    .map((container) => {
      const early = `${servicesNamed(namesOf(servicesTo(container, spec)))} may count ${spec.isUnmanaged ? 'it' : 'a replacement'} as ready before it serves`;
      // No manifest shows on which port, and when, it listens. Members that are ready only together would never start again.
      const advice = `Give ${container.name} a readiness probe of what its clients need, which it can pass without other pods.`;
      return warning('stays-ready', `${container.name} has no readiness probe: ${early}`, { ...at(container), advice });
    });

/** A port name must be declared by a container. A port number needs no declaration, so it is not checked. */
const missingPort = (spec: Situation): Problem[] =>
  spec.services.flatMap(({ name, targetPorts, selected = spec.containers }) =>
    targetPorts.flatMap((target) => {
      const { port, protocol } = target;
      if (typeof port !== 'string' || spec.injected || selected.some((one) => serves(one, target))) return [];
      const message = `Service ${name} targets ${protocol} port "${port}", which no container declares: it has no endpoint for it`;
      const path = [...spec.podPath, 'containers'];
      const advice = `Name a container's ${protocol} port "${port}", or write its number as targetPort.`;
      return error('target-port-missing', message, { advice, path });
    }),
  );

const isOwn = ({ isShared }: ServiceSpec | BudgetSpec): boolean => isShared !== true;

function lastEndpoint(spec: Situation): Problem[] {
  const { replicas, autoscaler } = spec.capacity;
  const isSingle = replicas === 1 && spec.subject.kind !== 'DaemonSet';
  const found = (mustWait(spec) ? [] : servicesOfClients(spec)).filter(
    (one) => one.otherReady === 0 || (isSingle && isOwn(one)),
  );
  const names = namesOf(found);
  if (names.length === 0) return [];
  const verb = names.length === 1 ? 'has' : 'have';
  const kept = autoscaler === undefined ? '1 replica' : `${autoscaler} may keep only 1 replica`;
  const message = found.some(({ otherReady }) => otherReady === 0)
    ? `${servicesNamed(names)} ${verb} no other ready endpoint`
    : `${kept}: ${servicesNamed(names)} ${verb} no other endpoint while its pod is evicted or deleted`;
  return [warning('last-endpoint', message, { path: spec.subject.kind === 'Pod' ? [] : ['spec', 'replicas'] })];
}

function outageByRollout(spec: Situation): Problem[] {
  const { subject, capacity } = spec;
  const { rollout, replicas, inPlace, autoscaler } = capacity;
  if (!rollout || !stopsAllAtOnce(subject.kind, capacity) || !servicesOfClients(spec).some(isOwn)) return [];
  const { isRecreate, maxUnavailable } = rollout;
  const where = subject.kind === 'StatefulSet' ? ' (where the cluster has this feature)' : '';
  const all = replicas === 1 && autoscaler === undefined ? 'its only pod' : 'all its pods';
  const message = isRecreate
    ? `strategy Recreate stops every pod before a new one starts: each rollout is an outage`
    : `maxUnavailable ${maxUnavailable} lets a rollout take ${all} away before a new one is ready`;
  const field = subject.kind === 'Deployment' ? 'strategy' : 'updateStrategy';
  const mustWait = (isRecreate || replicas === 1) && inPlace.some(({ why }) => why === 'volume');
  const finding = mustWait ? note : isRecreate ? error : warning;
  return [finding('no-ready-endpoint', `${message}${where}`, { path: ['spec', field] })];
}

function blockedRollout({ subject, capacity }: Situation): Problem[] {
  const { rollout, inPlace, replicas, accessMode } = capacity;
  // One that stops them all lets the volume go.
  const starts = countOf(rollout?.maxSurge, replicas ?? 1, 'up') ?? 0;
  if (starts < 1 || stopsAllAtOnce(subject.kind, capacity) || accessMode?.endsWith('Pod')) return [];
  const isDaemonSet = subject.kind === 'DaemonSet';
  if (!inPlace.some(({ why }) => why === (isDaemonSet ? 'host ports' : 'volume'))) return [];
  const mode = accessMode === undefined ? 'if that is ReadWriteOnce' : `as that is ${accessMode}`;
  const message = isDaemonSet
    ? 'maxSurge starts a second pod on each node, whose host ports the old one holds: no rollout can ever begin'
    : `a rollout starts the next pod while the old one holds its volume: ${mode}, the pod on another node waits (Multi-Attach), and the rollout with it`;
  return [warning('rollout-blocked', message, { path: ['spec', isDaemonSet ? 'updateStrategy' : 'strategy'] })];
}

function budgets(spec: Situation): Problem[] {
  const code = 'budget-blocks-eviction';
  const otherwise = ': kubectl drain waits forever otherwise.';
  const names = [...new Set(spec.budgets.map(({ name }) => name))];
  if (names.length > 1) {
    const message = `the eviction API refuses a pod that several budgets cover (${names.join(', ')})`;
    return [warning(code, message, { advice: `Let only one budget select the pod${otherwise}`, path: [] })];
  }
  const [budget, ...copies] = spec.budgets;
  // Which of the copies in a folder is meant is not known.
  const message = budget && copies.length === 0 ? blockedBy(budget, spec) : undefined;
  if (!budget || message === undefined) return [];
  // Another replica helps only if the budget does not keep all of them, and if nothing speaks against it.
  const isSingle = spec.capacity.single.length > 0 || budget.minAvailable === '100%';
  const lower = `Lower minAvailable${isSingle ? '' : ', or add a replica, if pods can share its work'}`;
  const advice = `${allowsNone(budget) ? 'Set maxUnavailable to 1 or more' : lower}${otherwise}`;
  return [warning(code, message, { advice, path: [] })];
}

const allowsNone = ({ maxUnavailable }: BudgetSpec): boolean => maxUnavailable === 0 || maxUnavailable === '0%';

/** Why the budget blocks evictions: by the API server's rule for a live pod, else because it can never allow one. */
function blockedBy(budget: BudgetSpec, { capacity }: Situation): string | undefined {
  const { name, minAvailable, allowed, ruling } = budget;
  if (ruling) return ruling.refused ? `${ruling.text}: an eviction (kubectl drain) would be refused` : undefined;
  const text = `PodDisruptionBudget ${name}`;
  if (allowsNone(budget)) return `${text} has maxUnavailable 0: no pod can ever be evicted`;
  if (minAvailable === '100%') return `${text} has minAvailable 100%: no pod can ever be evicted`;
  // An autoscaler may add more, and pods of other workloads may be enough for it.
  const replicas = capacity.most ?? capacity.replicas;
  if (!replicas || !isOwn(budget) || allowed > 0) return undefined;
  if ((countOf(minAvailable, replicas, 'up') ?? 0) < replicas) return undefined;
  return `${text} has minAvailable ${minAvailable} of ${plural(replicas, 'replica')}: no pod can ever be evicted`;
}

function hostPorts(spec: Situation): Problem[] {
  if (!spec.capacity.single.includes('host ports')) return [];
  const what = spec.hostNetwork ? 'hostNetwork' : 'hostPort';
  const path = [...spec.podPath, spec.hostNetwork ? 'hostNetwork' : 'containers'];
  const effect = `${what}: a replacement on the same node cannot start until the old pod has released its ports`;
  if (!startsFirst(spec.capacity) || spec.subject.kind === 'DaemonSet') return [note('host-network', effect, { path })];
  return [warning('host-network', `${effect}, so a rollout that surges waits for a free node`, { path })];
}

export const serviceRules = [
  ...[drainRace, companions, unprobed, missingPort],
  ...[lastEndpoint, outageByRollout, blockedRollout, budgets, hostPorts],
];
