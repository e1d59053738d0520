/**
 * Patches of the workload, with computed numbers, so that the next exit goes better. Shared by reports and the `fix`
 * command. No patch if it would not help: a longer grace period does not help an application that ignores its signal, a
 * bare pod has no template, and nothing helps against a forced deletion or the deletion of a whole namespace. Pure.
 */
import type { ContainerTimeline, Length, Timeline, Workload } from '../infer/timeline.ts';
import type { FindingCode, FixReport } from '../model/report.ts';
import type { JudgedVerdict } from './finding.ts';
import { isVague, secondsText } from './length-text.ts';
import { lossOf } from './loss.ts';
import { containerSpec, ignoresItsSignal, ranContainers } from './rule-input.ts';
import { defaultPreStopSeconds, graceFor } from './shutdown-numbers.ts';

interface FixInput {
  readonly timeline: Timeline;
  readonly verdict: JudgedVerdict;
}

interface Fix {
  /** Patches, the most useful first. */
  readonly patches: FixReport[];
  /** The fix in words, for a pod that no patchable template makes. */
  readonly advice?: string | undefined;
  /** A longer grace period would help. */
  readonly needsGrace: boolean;
}

export function fixOf(input: FixInput): Fix {
  const { timeline } = input;
  const { workload, pod } = timeline;
  const needs = needsOf(input);
  const grace = longerGrace(input, needs);
  const needsGrace = grace !== undefined;
  if (isUnfixable(input)) return { patches: [], needsGrace };
  const change = templateFix(timeline, needs, grace);
  if (!workload || !isPatchable(workload))
    return { patches: [], advice: change && `in its manifest: ${change.reason}`, needsGrace };
  const namespace = pod.metadata.namespace ?? 'default';
  const changes = [change, replicasFix(input)].flatMap((one) => one ?? []);
  return { patches: changes.map((one) => patchOf(workload, namespace, one)), needsGrace };
}

/** No spec helps against a forced deletion, or keeps a pod whose namespace or owner is deleted. */
const isUnfixable = ({ timeline: { trigger, workload }, verdict }: FixInput): boolean =>
  verdict.outcome === 'forced' ||
  workload?.replicas === 0 ||
  trigger.kind === 'namespace-deletion' ||
  trigger.kind === 'owner-deleted';

type Change = Pick<FixReport, 'reason' | 'patch'>;

/** Kinds whose pod template can be patched: a Job's cannot, and a pod has none. */
export const templatePaths: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
};

/** Names come from the cluster and go into a shell command, so only valid Kubernetes names are accepted. */
const isPatchable = ({ kind, name }: Workload): boolean =>
  Object.hasOwn(templatePaths, kind) && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name);

function patchOf(workload: Workload, namespace: string, { reason, patch }: Change): FixReport {
  const { kind, name } = workload;
  const json = JSON.stringify(patch).replaceAll("'", `'\\''`);
  const where = /^[-a-z0-9]+$/.test(namespace) ? ` -n ${namespace}` : '';
  const command = `kubectl patch ${kind.toLowerCase()}/${name}${where} --patch '${json}'`;
  return { reason, target: { kind, name }, patch, command };
}

type Need = ReturnType<typeof needsOf>[number];

/** What each container needs. */
function needsOf({ timeline, verdict }: FixInput) {
  const { grace, pod } = timeline;
  const measured = lossOf(timeline)?.preStopSeconds;
  const seconds = measured ?? defaultPreStopSeconds;
  // A hook prevents only the loss of requests that are sent too late.
  const isRace = (code: FindingCode): boolean =>
    code === 'drain-race' || (code === 'requests-lost' && measured !== undefined);
  const raced = new Set(verdict.findings.filter(({ code }) => isRace(code)).map(({ container }) => container));
  return ranContainers(timeline).map((container) => {
    const { name, preStop, drain, outcome, reaction } = container;
    const wasKilled = outcome === 'killed';
    const spec = containerSpec(pod, name);
    const hook = spec?.lifecycle?.preStop;
    // A hook of another kind stays: the API rejects two kinds in one hook, and its work must not be dropped.
    const canSetSleep = !hook || (hook.sleep !== undefined && hook.sleep.seconds < seconds);
    const sleepSeconds = raced.has(name) && canSetSleep ? seconds : undefined;
    const planned = preStop?.sleepSeconds ?? hook?.exec?.seconds ?? 0;
    const drained = drain ? longest(drain) / 1000 : 0;
    return {
      container,
      /** The preStop sleep to add. */
      sleepSeconds,
      hookSeconds: sleepSeconds ?? Math.max(planned, (preStop?.length?.shown ?? 0) / 1000),
      /** For a killed container at least the grace period that it had. */
      drainSeconds: wasKilled ? Math.max(drained, grace.effectiveSeconds) : drained,
      /** A longer grace period would only delay its SIGKILL: what it needs once it handles the signal is unknown. */
      ignoresSignal: reaction === 'none' || (wasKilled && ignoresItsSignal(timeline, container)),
    };
  });
}

/** The grace period to set, s; undefined if today's is long enough or was not the cause. */
function longerGrace({ timeline, verdict }: FixInput, needs: readonly Need[]): number | undefined {
  const { specSeconds, effectiveSeconds } = timeline.grace;
  const wasGraceTooShort = effectiveSeconds >= specSeconds && verdict.findings.some(({ needsGrace }) => needsGrace);
  if (!wasGraceTooShort && needs.every(({ sleepSeconds }) => sleepSeconds === undefined)) return undefined;
  const grace = Math.max(
    ...needs.map((need) =>
      need.ignoresSignal ? Math.ceil((need.hookSeconds + effectiveSeconds) / 5) * 5 : graceFor(need),
    ),
  );
  return grace > specSeconds ? grace : undefined;
}

/** A preStop sleep if traffic was at risk, and the grace period that hook and drain need. */
function templateFix(timeline: Timeline, needs: readonly Need[], grace: number | undefined): Change | undefined {
  const sleeps = needs.flatMap(({ sleepSeconds }) => sleepSeconds ?? []);
  if (sleeps.length === 0 && grace === undefined) return undefined;
  const changes = [
    ...sleeps.slice(0, 1).map((seconds) => `preStop sleep ${seconds}s`),
    ...(grace === undefined ? [] : [`grace period ${grace}s${graceReason(grace, timeline, needs, sleeps.length > 0)}`]),
  ];
  const spec = {
    terminationGracePeriodSeconds: grace,
    containers: sleepPatches(needs, 'container'),
    initContainers: sleepPatches(needs, 'sidecar'),
  };
  return {
    reason: `${changes.join(' and ')}${sleeps.length > 0 ? sleepReason(timeline) : ''}`,
    patch: nested(templatePaths[timeline.workload?.kind ?? ''] ?? [], { spec }),
  };
}

function sleepPatches(needs: readonly Need[], kind: ContainerTimeline['kind']): object[] | undefined {
  const own = needs.filter(({ container, sleepSeconds }) => container.kind === kind && sleepSeconds !== undefined);
  if (own.length === 0) return undefined;
  return own.map(({ container: { name }, sleepSeconds }) => ({
    name,
    lifecycle: { preStop: { sleep: { seconds: sleepSeconds } } },
  }));
}

const sleepReason = (timeline: Timeline): string =>
  `, to keep serving until load balancers know; ${lossOf(timeline)?.preStopSeconds === undefined ? 'adjust the sleep to your load balancer' : 'the sleep covers what was measured'}`;

/** ` (preStop 30s + drain 1.1s + 25%, rounded up)`, without `preStop` for a new sleep; for the container that needs most. */
function graceReason(newGrace: number, { grace }: Timeline, needs: readonly Need[], hasSleep: boolean): string {
  const [neediest] = [...needs].sort((a, b) => b.hookSeconds + b.drainSeconds - a.hookSeconds - a.drainSeconds);
  if (!neediest) return '';
  const { container, hookSeconds, drainSeconds, ignoresSignal } = neediest;
  const hook = hookSeconds > 0 ? `${hasSleep ? '' : 'preStop '}${wholeText(hookSeconds)} + ` : '';
  const exact = ignoresSignal ? hookSeconds + grace.effectiveSeconds : (hookSeconds + drainSeconds) * 1.25;
  const rounded = newGrace > exact + 1e-6 ? ', rounded up' : '';
  if (ignoresSignal) return ` (${hook}today's ${wholeText(grace.effectiveSeconds)}${rounded})`;
  const atMost = container.drain && isVague(container.drain) ? 'at most ' : '';
  const bound = container.outcome === 'killed' ? 'at least ' : atMost;
  return ` (${hook}drain ${bound}${secondsText(drainSeconds * 1000)} + 25%${rounded})`;
}

/** If it is not known well, its upper bound counts: a grace period that is too short would kill the container. */
const longest = (drain: Length): number => (isVague(drain) && Number.isFinite(drain.max) ? drain.max : drain.shown);

const wholeText = (seconds: number): string => secondsText(seconds * 1000, seconds % 1 === 0 ? 0 : 1);

const nested = (path: readonly string[], leaf: object): object =>
  path.reduceRight<object>((inner, key) => ({ [key]: inner }), leaf);

/** Only for a Deployment: pods of other kinds may not be able to run twice. */
function replicasFix({ timeline, verdict }: FixInput): Change | undefined {
  const { workload, trigger } = timeline;
  const wasLastEndpoint = verdict.findings.some(({ code }) => code === 'last-endpoint');
  if (workload?.kind !== 'Deployment' || !wasLastEndpoint || trigger.kind === 'scale-down') return undefined;
  if (trigger.kind === 'rollout')
    return {
      reason: 'start the new pod before the old one stops',
      patch: { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } } },
    };
  if (workload.replicas !== 1) return undefined;
  return { reason: 'a second replica keeps the Service answering', patch: { spec: { replicas: 2 } } };
}
