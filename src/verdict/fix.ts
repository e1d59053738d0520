/**
 * What to change in the workload so that the next exit goes better: patches with computed numbers. Pure; reports and the
 * `fix` command share it. None where a patch would not help: an application that ignores its signal is not helped by a
 * longer grace period, a bare pod has no template, and nothing helps a forced deletion or one of a whole namespace.
 */
import type { ContainerTimeline, Timeline, Workload } from '../infer/timeline.ts';
import type { FindingCode } from '../model/report.ts';
import type { FixAnswer } from './answer.ts';
import type { JudgedVerdict } from './finding.ts';
import { lossOf } from './loss.ts';
import { containerSpec } from './serving.ts';
import { defaultPreStopSeconds, graceFor } from './shutdown-numbers.ts';

/** What fixes are computed from. */
export interface FixInput {
  readonly timeline: Timeline;
  readonly verdict: JudgedVerdict;
}

export function fixesOf(input: FixInput): FixAnswer[] {
  const { workload, pod } = input.timeline;
  if (!workload || !isPatchable(workload) || isHopeless(input)) return [];
  const namespace = pod.metadata.namespace ?? 'default';
  const fixes = [templateFix(input), replicasFix(input)];
  return fixes.flatMap((fix) => (fix ? [{ ...fix, ...addressed(workload, namespace, fix.patch) }] : []));
}

/** The same for a pod that no template makes, in words. */
export function manifestAdvice(input: FixInput): string | undefined {
  if (isHopeless(input) || (input.timeline.workload && isPatchable(input.timeline.workload))) return undefined;
  const change = templateFix(input);
  return change && `in its manifest: ${change.reason}`;
}

/** Nothing in a spec helps against force, or keeps a pod whose namespace or owner goes. */
const isHopeless = ({ timeline: { trigger, workload }, verdict }: FixInput): boolean =>
  verdict.outcome === 'forced' ||
  workload?.replicas === 0 ||
  trigger.kind === 'namespace-deletion' ||
  trigger.kind === 'owner-deleted';

interface Change {
  readonly reason: string;
  readonly patch: object;
}

/** Kinds whose pod template can be patched: a Job's cannot, and a pod has none. */
const templatePaths: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
};

/** Names come from the cluster and go into a shell: only what Kubernetes allows as a name gets there. */
const isPatchable = ({ kind, name }: Workload): boolean =>
  Object.hasOwn(templatePaths, kind) && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name);

function addressed(workload: Workload, namespace: string, patch: object): Pick<FixAnswer, 'target' | 'command'> {
  const { kind, name } = workload;
  const json = JSON.stringify(patch).replaceAll("'", `'\\''`);
  const where = /^[-a-z0-9]+$/.test(namespace) ? ` -n ${namespace}` : '';
  return { target: { kind, name }, command: `kubectl patch ${kind.toLowerCase()}/${name}${where} --patch '${json}'` };
}

/** A preStop sleep where traffic was at risk, and the grace period that hook and drain need. */
function templateFix(input: FixInput): Change | undefined {
  const { timeline } = input;
  const sleeps = sleepsFor(input);
  const grace = longerGrace(input, sleeps);
  if (sleeps.length === 0 && grace === undefined) return undefined;
  const reasons = [
    ...(sleeps.length > 0 ? [sleepReason(input, sleeps)] : []),
    ...(grace === undefined ? [] : [`grace period ${grace}s${sleeps.length > 0 ? '' : graceReason(input)}`]),
  ];
  const spec = {
    terminationGracePeriodSeconds: grace,
    containers: sleepPatches(sleeps, 'container'),
    initContainers: sleepPatches(sleeps, 'sidecar'),
  };
  return { reason: reasons.join(', '), patch: nested(templatePaths[timeline.workload?.kind ?? ''] ?? [], { spec }) };
}

/** A longer grace period would only delay its SIGKILL. */
const ignoresSignal = ({ pod }: Timeline, { name, reaction, kill }: ContainerTimeline): boolean =>
  reaction === 'none' || (kill !== undefined && containerSpec(pod, name)?.ignoresTerm === true);

interface Sleep {
  readonly container: ContainerTimeline;
  readonly seconds: number;
}

function sleepPatches(sleeps: readonly Sleep[], kind: ContainerTimeline['kind']): object[] | undefined {
  const own = sleeps.filter(({ container }) => container.kind === kind);
  if (own.length === 0) return undefined;
  return own.map(({ container: { name }, seconds }) => ({ name, lifecycle: { preStop: { sleep: { seconds } } } }));
}

/** A container with a hook of another kind keeps it: two kinds in one hook are refused, and its work is not ours to drop. */
function sleepsFor({ timeline, verdict }: FixInput): Sleep[] {
  const raced = new Set(
    verdict.findings.flatMap(({ code, container }) =>
      (code === 'drain-race' || code === 'requests-lost') && container !== undefined ? [container] : [],
    ),
  );
  const seconds = lossOf(timeline)?.preStopSeconds ?? defaultPreStopSeconds;
  return timeline.containers.flatMap((container) => {
    const hook = containerSpec(timeline.pod, container.name)?.lifecycle?.preStop;
    const isFree = !hook || (hook.sleep !== undefined && hook.sleep.seconds < seconds);
    return raced.has(container.name) && isFree ? [{ container, seconds }] : [];
  });
}

const sleepReason = ({ timeline }: FixInput, [first]: readonly Sleep[]): string =>
  `keep serving until load balancers know: preStop sleep ${first?.seconds ?? defaultPreStopSeconds}s ${lossOf(timeline)?.preStopSeconds === undefined ? '(adjust to your load balancer)' : '(as measured)'}`;

/** Findings that a longer grace period answers. */
const tooShort: ReadonlySet<FindingCode> = new Set([
  'killed-at-grace',
  'prestop-cut-off',
  'prestop-heavy',
  'grace-nearly-spent',
]);

/** Seconds; undefined where the grace period is long enough, or where its length was not the cause. */
function longerGrace({ timeline, verdict }: FixInput, sleeps: readonly Sleep[]): number | undefined {
  const { specSeconds, effectiveSeconds } = timeline.grace;
  const isAskedShorter = effectiveSeconds < specSeconds;
  const short = verdict.findings.filter(({ code }) => tooShort.has(code)).map(({ container }) => container);
  const helped = timeline.containers.filter((one) => short.includes(one.name) && !ignoresSignal(timeline, one));
  if (sleeps.length === 0 && (helped.length === 0 || isAskedShorter)) return undefined;
  const needs = timeline.containers
    .filter(({ ran }) => ran)
    .map((container) =>
      needOf(
        container,
        timeline,
        sleeps.find((one) => one.container === container),
      ),
    );
  const [longest] = needs.sort((a, b) => b.hookSeconds + b.drainSeconds - a.hookSeconds - a.drainSeconds);
  const grace = longest ? graceFor(longest) : specSeconds;
  return grace > specSeconds ? grace : undefined;
}

/** What hook and drain of one container need; of one that was killed at least the grace period that it had. */
function needOf(
  container: ContainerTimeline,
  { grace, pod }: Timeline,
  sleep: Sleep | undefined,
): { hookSeconds: number; drainSeconds: number } {
  const { preStop, drain, kill, name } = container;
  const spec = containerSpec(pod, name)?.lifecycle?.preStop;
  const planned = preStop?.sleepSeconds ?? spec?.exec?.seconds ?? 0;
  const hook = sleep?.seconds ?? Math.max(planned, (preStop?.length?.shown ?? 0) / 1000);
  const measured = (drain?.shown ?? 0) / 1000;
  return { hookSeconds: hook, drainSeconds: kill ? Math.max(measured, grace.effectiveSeconds) : measured };
}

function graceReason({ timeline }: FixInput): string {
  const [longest] = timeline.containers
    .filter(({ ran }) => ran)
    .map((container) => {
      const { hookSeconds, drainSeconds } = needOf(container, timeline, undefined);
      return { container, need: hookSeconds + drainSeconds };
    })
    .sort((a, b) => b.need - a.need);
  if (!longest) return '';
  const { preStop, kill } = longest.container;
  const parts = [...(preStop ? ['preStop'] : []), 'drain'].join(' and ');
  const least = kill ? 'at least ' : '';
  return ` (${parts} need ${least}${Number(longest.need.toFixed(1))}s, and a quarter more)`;
}

const nested = (path: readonly string[], leaf: object): object =>
  path.reduceRight<object>((inner, key) => ({ [key]: inner }), leaf);

/** Only a Deployment's pods are sure to be able to run twice. */
function replicasFix({ timeline, verdict }: FixInput): Change | undefined {
  const { workload, trigger } = timeline;
  const isAlone = verdict.findings.some(({ code }) => code === 'last-endpoint');
  if (workload?.kind !== 'Deployment' || !isAlone || trigger.kind === 'scale-down') return undefined;
  if (trigger.kind === 'rollout')
    return {
      reason: 'start the new pod before the old one stops',
      patch: { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } } },
    };
  if (workload.replicas !== 1) return undefined;
  return { reason: 'a second replica keeps the Service answering', patch: { spec: { replicas: 2 } } };
}
