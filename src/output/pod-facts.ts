/** Facts about a pod for every output: its name, its owner, its grace period, who deleted it and how long that took. */
import type { Timeline } from '../infer/timeline.ts';
import type { Pod } from '../model/kube.ts';
import { controllerOf, deploymentNamed, statusesOf } from '../model/pod.ts';
import type { FindingCode, LedgerEntry, LedgerOwner } from '../model/report.ts';
import { parseTime } from '../model/stamps.ts';
import { secondsText, plural } from '../verdict/words.ts';
import { totalText } from '../verdict/headline.ts';
import type { Report } from '../verdict/report.ts';
import { graceSecondsText, needsNoReplacement } from '../verdict/rule-input.ts';
import { triggerText } from './mark-text.ts';
import { clockText, dayText } from './time-text.ts';

/** `shop/checkout-6677656c54-258qr` */
export const podText = ({ pod: { metadata } }: Pick<Timeline, 'pod'>): string =>
  `${metadata.namespace ?? ''}/${metadata.name}`;

/** `deployment/checkout`: the workload, else the pod's controller; undefined for a pod without one. */
export function ownerText({ pod, workload }: Pick<Timeline, 'pod' | 'workload'>): string | undefined {
  const owner = workload ?? controllerOf(pod);
  return owner && `${owner.kind.toLowerCase()}/${owner.name}`;
}

/** `6s (30s in its spec)` */
export function podGraceText(timeline: Timeline): string {
  const [seen, spec] = [graceSecondsText(timeline), `${timeline.grace.specSeconds}s`];
  return seen === spec ? seen : `${seen} (${spec} in its spec)`;
}

/** `preempted by a higher-priority pod`, with the note of the trigger. */
export const deletedByText = ({ trigger: { kind, note } }: Timeline): string =>
  note === undefined ? triggerText[kind] : kind === 'unknown' ? note : `${triggerText[kind]}, ${note}`;

/** `2026-11-20 23:04:29 UTC`: when it was, for documents that are read later. */
export const dateText = (at: number): string => `${dayText(at, 'utc').slice(0, 10)} ${clockText(at, 0, 'utc')} UTC`;

/** `gone after 6.9s: 3.7s waiting for the kubelet on node1 after the exit`, `≤` if seen late; undefined for a check. */
export function deletedText({ timeline, answer, ledger, probesFailed }: Report): string | undefined {
  const { trigger, deleted, mode, firstAnswerMs } = timeline;
  if (!deleted) return mode === 'check' ? undefined : 'not deleted';
  const saysNothing = ['this-command', 'unknown'].includes(trigger.kind) && trigger.note === undefined;
  const by = saysNothing ? '' : ` (${deletedByText(timeline)})`;
  const length = totalText(timeline);
  const gone = length ? `gone after ${length}${heldText(ledger, answer.cause?.code)}` : 'still terminating';
  const late = firstAnswerMs && ` · before that, reaching the API server took ${secondsText(firstAnswerMs)}`;
  return `${gone}${by}${replacedText(timeline)}${restartsText(timeline, probesFailed)}${late ?? ''}`;
}

/** The answer in one sentence, with how long the pod took to be gone, and what held it. */
export const closingText = (report: Report): string =>
  report.answer.summary + (report.timeline.total ? `; ${deletedText(report)}` : '');

/** ` · app had restarted 2 times, last after exit 137 (OOMKilled)`; empty without a restart in the ten minutes before. */
function restartsText(
  { pod, grace: { deadline, effectiveSeconds } }: Timeline,
  probes: Report['probesFailed'],
): string {
  const since = deadline - effectiveSeconds * 1000 - 600_000;
  const texts = statusesOf(pod).flatMap(({ name, restartCount, lastState: { terminated } = {} }) => {
    if (!terminated || restartCount === 0 || !((parseTime(terminated.finishedAt) ?? 0) > since)) return [];
    const reason = ['Completed', 'Error', undefined].includes(terminated.reason) ? '' : ` (${terminated.reason})`;
    const probe = probes.has(name) ? `, as its ${probes.get(name)} probe had failed` : '';
    return `${name} had restarted ${plural(restartCount, 'time')}, last after exit ${terminated.exitCode}${reason}${probe}`;
  });
  return ['', ...texts.slice(0, 2)].join(' · ');
}

/** ` · replacement ready after ≈13s: ≈11s until it was scheduled (Unschedulable)`; empty unless the pod was gone 2 s before. */
function replacedText(timeline: Timeline): string {
  const { replacement, replacementHold: hold, zero, total } = timeline;
  const { createdAt, scheduledAt, startedAt, readyAt } = replacement ?? {};
  const steps = { created: createdAt, scheduled: scheduledAt, started: startedAt, 'ready, once started': readyAt };
  const dates = Object.entries(steps).flatMap(([step, at]) => (at ? [{ step, at: at.shown }] : []));
  if (total && hold && !readyAt && !needsNoReplacement(timeline) && hold.at >= (dates.at(-1)?.at ?? zero))
    return ` · ${replacement ? 'replacement not ready' : 'no replacement yet'} (${hold.value})`;
  if (!total || !readyAt || readyAt.shown - zero < total.shown + 2000) return '';
  const lengths = dates.map(({ step, at }, index) => ({ step, at, ms: at - (dates[index - 1]?.at ?? zero) }));
  const longest = lengths.reduce((a, b) => (b.ms > a.ms ? b : a));
  const [all, most] = [readyAt.shown - zero, longest.ms].map((ms) => `≈${secondsText(ms, 0)}`);
  const because = hold && hold.at <= longest.at && hold.at >= longest.at - longest.ms ? ` (${hold.value})` : '';
  return ` · replacement ready after ${all}: ${most} until it was ${longest.step}${because}`;
}

/** Who held the pod, as words between a length and the owner's name. A container's own time has a bar. */
const heldBy: Partial<Record<LedgerOwner, { by: string; whom?: string; saidBy?: readonly FindingCode[] }>> = {
  'api-server': { by: 'waiting for ', whom: 'the API server', saidBy: ['api-server-silent'] },
  admission: { by: 'waiting for ', saidBy: ['api-server-silent'] },
  kubelet: { by: 'waiting for the kubelet on ', saidBy: ['node-silent', 'slow-start', 'slow-cleanup'] },
  runtime: { by: 'by the container runtime for ', saidBy: ['runtime-unavailable'] },
  'post-start': { by: 'by the postStart hook of ', saidBy: ['slow-start'] },
  finalizers: { by: 'by finalizers ', saidBy: ['finalizer-held'] },
  unexplained: { by: 'unexplained' },
};

/** What bars and cause leave of the total: `: ≈10s waiting for the API server`. Less than 2 s need no owner, and less than 4 s if they are uncertain. */
export function heldText(ledger: readonly LedgerEntry[], cause?: FindingCode): string {
  const lengthOf = (entries: LedgerEntry[]): number => entries.reduce((ms, { seconds }) => ms + seconds * 1000, 0);
  const texts = Object.entries(heldBy).flatMap(([owner, { by, whom = '', saidBy = [] }]) => {
    const own = ledger.filter((entry) => entry.owner === owner);
    const isRough = own.some(({ approximate }) => approximate);
    const isShort = own.every(({ seconds }) => seconds < 2) || (isRough && lengthOf(own) < 4000);
    if (isShort || (cause && saidBy.includes(cause))) return [];
    const subjects = own.map(({ subject = '' }) => subject).sort((a, b) => b.length - a.length);
    const of = owner === 'unexplained' ? ` ${own.map(({ what }) => what).join(', ')}` : subjects[0] || whom;
    const starts = lengthOf(own.filter(({ what }) => what.startsWith('began ')));
    const rest = lengthOf(own) - starts;
    const when = starts > 9 * rest ? ' before the stop' : rest > 9 * starts ? ' after the exit' : '';
    const ms = when === '' ? starts + rest : Math.max(starts, rest);
    return [`${isRough ? '≈' : ''}${secondsText(ms, isRough ? 0 : 1)} ${by}${of}${owner === 'kubelet' ? when : ''}`];
  });
  return texts.length === 0 ? '' : `: ${texts.join(', ')}`;
}

/** `NAMESPACE/KIND/NAME` of its workload: a Deployment names its ReplicaSets NAME-HASH, and labels their pods with HASH. */
export function familyOf({ metadata }: Pod): string {
  const owner = controllerOf({ metadata });
  const deployment = deploymentNamed(owner, metadata.labels?.['pod-template-hash']);
  const kind = deployment ? 'Deployment' : (owner?.kind ?? 'Pod');
  return `${metadata.namespace ?? ''}/${kind}/${deployment ?? owner?.name ?? metadata.name}`;
}
