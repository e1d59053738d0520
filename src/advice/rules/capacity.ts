/** Rules about who serves while a pod is replaced: replicas, rollouts, budgets. */
import { note, warning, type CheckFinding } from '../finding.ts';
import type { BudgetSpec, ShutdownSpec } from '../shutdown-spec.ts';

const surges = ({ subject }: ShutdownSpec): boolean => subject.kind === 'Deployment';

/** `25%` of 4 is 1; maxUnavailable is rounded down and maxSurge up (apps/v1 RollingUpdateDeployment). */
function countOf(amount: number | string | undefined, replicas: number, round: 'up' | 'down'): number | undefined {
  if (typeof amount === 'number') return amount;
  const share = /^(\d{1,4})%$/.exec(amount ?? '')?.[1];
  if (share === undefined) return undefined;
  return round === 'up' ? Math.ceil((replicas * Number(share)) / 100) : Math.floor((replicas * Number(share)) / 100);
}

function lastEndpoint(spec: ShutdownSpec): CheckFinding[] {
  const live = spec.services.filter(({ otherReady }) => otherReady === 0).map(({ name }) => name);
  const single = spec.replicas === 1 ? spec.services.map(({ name }) => name) : [];
  const names = [...new Set([...live, ...single])];
  if (names.length === 0) return [];
  const services = `Service${names.length === 1 ? '' : 's'} ${names.join(', ')}`;
  const message =
    live.length > 0
      ? `${services} has no other ready endpoint`
      : `1 replica: ${services} has no other endpoint while its pod is evicted or deleted`;
  const surge = surges(spec) ? ', let a rollout surge (maxUnavailable 0),' : ',';
  const advice = `Run at least two replicas${surge} and protect them with a PodDisruptionBudget.`;
  return [warning('last-endpoint', message, { advice, path: spec.subject.kind === 'Pod' ? [] : ['spec', 'replicas'] })];
}

/** A rollout that may remove every pod before a new one is ready. */
function rollout(spec: ShutdownSpec): CheckFinding[] {
  const { update, replicas = 1, services } = spec;
  if (!update || services.length === 0 || !surges(spec)) return [];
  const unavailable = countOf(update.maxUnavailable ?? '25%', replicas, 'down') ?? 0;
  const isOutage = update.kind === 'Recreate';
  if (!isOutage && (replicas === 0 || unavailable < replicas)) return [];
  const message = isOutage
    ? 'strategy Recreate stops every pod before a new one starts: each rollout is an outage'
    : `maxUnavailable ${update.maxUnavailable} lets a rollout take all ${replicas} replicas away at once`;
  const advice = 'Use RollingUpdate with maxUnavailable 0 and maxSurge 1.';
  return [warning('no-ready-endpoint', message, { advice, path: ['spec', 'strategy'] })];
}

function budgets(spec: ShutdownSpec): CheckFinding[] {
  const names = spec.budgets.map(({ name }) => name).join(', ');
  const isSeveral = spec.budgets.length > 1 && !spec.budgets.some(({ ruling }) => ruling);
  const reasons = isSeveral
    ? [`the eviction API refuses a pod that several budgets cover (${names})`]
    : spec.budgets.flatMap((budget) => blockedBy(budget, spec) ?? []);
  const advice = 'Add a replica, or relax minAvailable or maxUnavailable: kubectl drain waits forever otherwise.';
  return reasons.map((message) => warning('budget-blocks-eviction', message, { advice, path: [] }));
}

/** Why the budget blocks evictions: by the API server's rule for a live pod, else because it can never allow one. */
function blockedBy({ name, minAvailable, maxUnavailable, ruling }: BudgetSpec, spec: ShutdownSpec): string | undefined {
  if (ruling)
    return ruling.refused
      ? `${ruling.text}${ruling.because === undefined ? '' : `; ${ruling.because}`}: an eviction (kubectl drain) would be refused`
      : undefined;
  const budget = `PodDisruptionBudget ${name}`;
  if (maxUnavailable === 0 || maxUnavailable === '0%')
    return `${budget} has maxUnavailable 0: no pod can ever be evicted`;
  const { replicas } = spec;
  if (minAvailable === '100%') return `${budget} has minAvailable 100%: no pod can ever be evicted`;
  if (replicas === undefined || replicas === 0) return undefined;
  const minPods = countOf(minAvailable, replicas, 'up');
  if (minPods === undefined || minPods < replicas) return undefined;
  return `${budget} has minAvailable ${minAvailable} of ${replicas} replica${replicas === 1 ? '' : 's'}: no pod can ever be evicted`;
}

/** A pod that uses ports of its node blocks its replacement on the same node. */
function hostPorts(spec: ShutdownSpec): CheckFinding[] {
  const hasHostPort = spec.containers.some(({ ports }) => ports.some(({ hostPort }) => hostPort !== undefined));
  if (!spec.hostNetwork && !hasHostPort) return [];
  const what = spec.hostNetwork ? 'hostNetwork' : 'hostPort';
  const path = [...spec.podPath, spec.hostNetwork ? 'hostNetwork' : 'containers'];
  const effect = `${what}: a replacement on the same node cannot start until the old pod has released its ports`;
  const surge = surges(spec) && spec.update?.kind !== 'Recreate' && ![0, '0%'].includes(spec.update?.maxSurge ?? '25%');
  if (!surge) return [note('host-network', effect, { path })];
  const advice = 'Leave a node free, or set maxSurge 0 and maxUnavailable 1.';
  return [warning('host-network', `${effect}, so a rollout that surges waits for a free node`, { advice, path })];
}

export const capacityRules = [lastEndpoint, rollout, budgets, hostPorts];
