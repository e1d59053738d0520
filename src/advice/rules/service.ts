/**
 * Rules about what clients of the pod's Services notice (they judge only the containers that serve a target port), and
 * about who serves while the pod is replaced: replicas, rollouts, budgets.
 */
import { defaultPreStopSeconds } from '../../verdict/shutdown-numbers.ts';
import type { ContainerSpec } from '../container-spec.ts';
import { at, note, signalled, warning, type Problem } from '../problem.ts';
import type { BudgetSpec, ServiceSpec } from '../neighbours.ts';
import type { Situation } from '../situation.ts';
import { stopSignalOf } from './stop.ts';
import { mainContainers } from './surroundings.ts';

/** Containers that declare a target port; else applications that declare no ports, which is allowed; else the first. */
function servingContainers(spec: Situation): ContainerSpec[] {
  const candidates = signalled(spec);
  if (spec.services.length === 0) return [];
  const serving = candidates.filter((container) =>
    spec.services.some(({ targetPorts }) => targetPorts.some((port) => serves(container, port))),
  );
  if (serving.length > 0) return serving;
  const { applications } = mainContainers(spec);
  const undeclared = applications.filter(({ ports }) => ports.length === 0);
  return undeclared.length > 0 ? undeclared : applications.slice(0, 1);
}

const serves = ({ ports }: ContainerSpec, target: ServiceSpec['targetPorts'][number]): boolean =>
  ports.some(({ name, port, protocol }) => [name, port].includes(target.port) && protocol === target.protocol);

const serviceNames = (names: readonly string[]): string =>
  `Service${names.length === 1 ? '' : 's'} ${names.join(', ')}`;

const nameOf = ({ name }: ServiceSpec): string => name;

/** The Services that send requests only to ready pods. */
const servicesOfReadyPods = ({ services }: Situation): string[] =>
  services.filter(({ publishNotReadyAddresses }) => !publishNotReadyAddresses).map(nameOf);

/** Without a hook that takes time, the stop signal comes while load balancers still know the endpoint. */
function drainRace(spec: Situation): Problem[] {
  const names = servicesOfReadyPods(spec);
  if (names.length === 0) return [];
  const meanwhile = `comes while load balancers behind ${serviceNames(names)} may still send requests`;
  const advice = `Add a preStop sleep of ${defaultPreStopSeconds}s (adjust it to your load balancer), and raise terminationGracePeriodSeconds by as much.`;
  return servingContainers(spec).flatMap((container) => {
    const { name, hook } = container;
    // A hook of another kind than a sleep takes an unknown time.
    if (hook && !(hook.isPlainSleep && (hook.minSeconds ?? 0) < 1)) return [];
    const message = `${name} has no preStop hook${hook ? ' that takes a second' : ''}: SIG${stopSignalOf(container)} ${meanwhile}`;
    return [warning('drain-race', message, { ...at(container), advice })];
  });
}

function unprobed(spec: Situation): Problem[] {
  const names = servicesOfReadyPods(spec);
  if (names.length === 0) return [];
  const early = `${serviceNames(names)} may count a replacement as ready before it serves`;
  return servingContainers(spec)
    .filter(({ hasReadinessProbe }) => !hasReadinessProbe)
    .map((container) =>
      warning('stays-ready', `${container.name} has no readiness probe: ${early}`, {
        ...at(container),
        advice: 'Give it a readiness probe.',
      }),
    );
}

const publishedNotReady = (spec: Situation): Problem[] =>
  spec.services
    .filter((service) => service.publishNotReadyAddresses)
    .map(({ name }) => {
      const message = `Service ${name} sets publishNotReadyAddresses: its clients are sent to the pod until it is gone`;
      return note('stays-ready', message, { path: spec.podPath });
    });

/** A port name must be declared by a container. A port number needs no declaration, so it is not checked. */
const missingPort = (spec: Situation): Problem[] =>
  spec.services.flatMap(({ name, targetPorts }) =>
    targetPorts.flatMap((target) => {
      const { port, protocol } = target;
      const isDeclared = spec.containers.some((container) => serves(container, target));
      if (typeof port !== 'string' || isDeclared) return [];
      const message = `Service ${name} targets ${protocol} port "${port}", which no container declares: it has no endpoint for it`;
      return warning('target-port-missing', message, {
        advice: `Name a container's ${protocol} port "${port}", or write its number as targetPort.`,
        path: [...spec.podPath, 'containers'],
      });
    }),
  );

/** `25%` of 4 is 1; maxUnavailable is rounded down and maxSurge up (apps/v1 RollingUpdateDeployment). */
function countOf(amount: number | string | undefined, replicas: number, round: 'up' | 'down'): number | undefined {
  if (typeof amount === 'number') return amount;
  const share = /^(\d{1,4})%$/.exec(amount ?? '')?.[1];
  if (share === undefined) return undefined;
  return round === 'up' ? Math.ceil((replicas * Number(share)) / 100) : Math.floor((replicas * Number(share)) / 100);
}

/** No other workload has pods that it selects. */
const isOwn = ({ isShared }: ServiceSpec | BudgetSpec): boolean => isShared !== true;

function lastEndpoint(spec: Situation): Problem[] {
  const live = spec.services.filter(({ otherReady }) => otherReady === 0).map(nameOf);
  const single = spec.replicas === 1 ? spec.services.filter(isOwn).map(nameOf) : [];
  const names = [...new Set([...live, ...single])];
  if (names.length === 0) return [];
  const services = serviceNames(names);
  const message =
    live.length > 0
      ? `${services} has no other ready endpoint`
      : `1 replica: ${services} has no other endpoint while its pod is evicted or deleted`;
  const surge = spec.rollout ? ', let a rollout surge (maxUnavailable 0),' : ',';
  const advice = `Run at least two replicas${surge} and protect them with a PodDisruptionBudget.`;
  return [warning('last-endpoint', message, { advice, path: spec.subject.kind === 'Pod' ? [] : ['spec', 'replicas'] })];
}

/** A rollout that may remove every pod before a new one is ready. */
function outageByRollout({ rollout, replicas, services }: Situation): Problem[] {
  if (!rollout || !services.some(isOwn)) return [];
  const { isRecreate, maxUnavailable } = rollout;
  // An autoscaler sets any number of replicas.
  const isAll =
    replicas === undefined
      ? maxUnavailable === '100%'
      : replicas > 0 && (countOf(maxUnavailable, replicas, 'down') ?? 0) >= replicas;
  if (!isRecreate && !isAll) return [];
  const message = isRecreate
    ? 'strategy Recreate stops every pod before a new one starts: each rollout is an outage'
    : `maxUnavailable ${maxUnavailable} lets a rollout take all ${replicas ?? 'its'} replicas away at once`;
  const advice = 'Use RollingUpdate with maxUnavailable 0 and maxSurge 1.';
  return [warning('no-ready-endpoint', message, { advice, path: ['spec', 'strategy'] })];
}

function budgets(spec: Situation): Problem[] {
  const finding = (message: string, remedy: string): Problem =>
    warning('budget-blocks-eviction', message, {
      advice: `${remedy}: kubectl drain waits forever otherwise.`,
      path: [],
    });
  const isSeveral = spec.budgets.length > 1;
  const oneBudget = 'Let only one budget select the pod';
  if (isSeveral && !spec.budgets.some(({ ruling }) => ruling)) {
    const names = spec.budgets.map(({ name }) => name).join(', ');
    return [finding(`the eviction API refuses a pod that several budgets cover (${names})`, oneBudget)];
  }
  return spec.budgets.flatMap((budget) => {
    const message = blockedBy(budget, spec);
    return message === undefined ? [] : [finding(message, isSeveral ? oneBudget : remedyFor(budget))];
  });
}

const allowsNone = ({ maxUnavailable }: BudgetSpec): boolean => maxUnavailable === 0 || maxUnavailable === '0%';

/** Another replica helps only if the budget does not keep all of them. */
function remedyFor(budget: BudgetSpec): string {
  if (allowsNone(budget)) return 'Set maxUnavailable to 1 or more';
  if (budget.minAvailable === '100%') return 'Lower minAvailable';
  return 'Add a replica, or relax minAvailable or maxUnavailable';
}

/** Why the budget blocks evictions: by the API server's rule for a live pod, else because it can never allow one. */
function blockedBy(budget: BudgetSpec, { replicas }: Situation): string | undefined {
  const { name, minAvailable, counts, ruling } = budget;
  if (ruling)
    return ruling.refused
      ? `${ruling.text}${ruling.because === undefined ? '' : `; ${ruling.because}`}: an eviction (kubectl drain) would be refused`
      : undefined;
  const text = `PodDisruptionBudget ${name}`;
  if (allowsNone(budget)) return `${text} has maxUnavailable 0: no pod can ever be evicted`;
  if (minAvailable === '100%') return `${text} has minAvailable 100%: no pod can ever be evicted`;
  // Pods of other workloads may be enough for it.
  if (replicas === undefined || replicas === 0 || !isOwn(budget) || counts.allowed > 0) return undefined;
  const minPods = countOf(minAvailable, replicas, 'up');
  if (minPods === undefined || minPods < replicas) return undefined;
  return `${text} has minAvailable ${minAvailable} of ${replicas} replica${replicas === 1 ? '' : 's'}: no pod can ever be evicted`;
}

export const usesHostPorts = ({ hostNetwork, containers }: Situation): boolean =>
  hostNetwork || containers.some(({ ports }) => ports.some(({ hostPort }) => hostPort !== undefined));

/** A pod that uses ports of its node blocks its replacement on the same node. */
function hostPorts(spec: Situation): Problem[] {
  if (!usesHostPorts(spec)) return [];
  const what = spec.hostNetwork ? 'hostNetwork' : 'hostPort';
  const path = [...spec.podPath, spec.hostNetwork ? 'hostNetwork' : 'containers'];
  const effect = `${what}: a replacement on the same node cannot start until the old pod has released its ports`;
  const { rollout } = spec;
  const surges = rollout && !rollout.isRecreate && ![0, '0%'].includes(rollout.maxSurge);
  if (!surges) return [note('host-network', effect, { path })];
  const advice = 'Leave a node free, or set maxSurge 0 and maxUnavailable 1.';
  return [warning('host-network', `${effect}, so a rollout that surges waits for a free node`, { advice, path })];
}

export const serviceRules = [
  ...[drainRace, unprobed, publishedNotReady, missingPort],
  ...[lastEndpoint, outageByRollout, budgets, hostPorts],
];
