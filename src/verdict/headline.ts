/** The answer in one sentence, by outcome: what ended the pod, and what took the time. Pure. */
import { minimumGrace } from '../infer/context.ts';
import type { ContainerTimeline, Length, Timeline } from '../infer/timeline.ts';
import type { ContainerKind } from '../model/kube.ts';
import { isFinished, statusesOf } from '../model/pod.ts';
import type { FindingCode, Outcome } from '../model/report.ts';
import { isSeenAtOnce } from '../model/span.ts';
import type { earlierStop } from './ledger.ts';
import { firstOf, type JudgedFinding, type JudgedVerdict } from './finding.ts';
import { exitCodes, gateFailed } from './policy.ts';
import {
  graceUsedLength,
  afterText,
  isShareKnown,
  isVague,
  lengthText,
  outwards,
  secondsText,
  shareText,
  few,
  list,
  plural,
  stillRan,
} from './words.ts';
import {
  graceMs,
  graceText,
  longestGraceMs,
  mainContainers,
  markOf,
  ranContainers,
  shareOfGrace,
  signalName,
} from './rule-input.ts';

interface HeadlineInput {
  readonly timeline: Timeline;
  readonly verdict: JudgedVerdict;
  readonly cause: JudgedFinding | undefined;
  readonly earlier?: ReturnType<typeof earlierStop> | undefined;
}

/** `brief` follows the first word of the card, `full` follows it in the summary. */
type Headline = Readonly<Record<'brief' | 'full', string>>;

/** The card's first word. A failed gate or an interruption, by the exit code, comes before the outcome. */
export function wordOf(timeline: Timeline, { outcome, exitCode, findings, gates }: JudgedVerdict): string {
  if (exitCode === gateFailed) {
    const isLoss = gates.every(({ name, passed }) => passed || name === 'max-lost');
    return isLoss && findings.some(({ code }) => code === 'requests-lost') ? 'Requests lost' : 'Gate failed';
  }
  if (exitCode > 128) return 'Interrupted';
  if (isStuck({ outcome, exitCode })) return outcomeWords.stuck;
  if (outcome !== 'failed') return outcomeWords[outcome];
  const failed = mainContainers(timeline).find(({ outcome: ended }) => ended === 'failed');
  return `Exited ${failed?.exit?.code ?? 'with an error'}`;
}

const outcomeWords: Readonly<Record<Exclude<Outcome, 'failed'>, string>> = {
  graceful: 'Graceful',
  removed: 'Removed',
  killed: 'SIGKILLed',
  oom: 'OOMKilled',
  forced: 'Force-deleted',
  overran: 'Exited late',
  stuck: 'Stuck',
  'not-started': 'Not started',
  unknown: 'Unknown',
};

export function headlineOf(input: HeadlineInput): Headline {
  const { outcome, exitCode, gates } = input.verdict;
  if (exitCode === gateFailed) {
    const failed = gates.filter(({ passed }) => !passed);
    const texts = failed.map(({ name, limit, message }) =>
      // A probe implies `--max-lost 0`: nobody may have named that gate.
      name === 'max-lost' ? message : `${[name, limit].filter(Boolean).join(' ')}: ${message}`,
    );
    return { brief: texts.join('; '), full: [...texts, gracefulText(input)].join('; ') };
  }
  const text = outcome === 'killed' ? '' : texts[outcome](input);
  const { brief, full } = outcome === 'killed' ? killedHeadline(input) : { brief: text, full: text };
  const still = isStuck(input.verdict) && outcome !== 'stuck' ? `${texts.stuck(input)}; ` : '';
  return { brief: still + brief, full: still + full };
}

/** Still terminating at the end, whatever its containers did. */
const isStuck = ({ outcome, exitCode }: Pick<JudgedVerdict, 'outcome' | 'exitCode'>): boolean =>
  exitCode === exitCodes.stuck && outcome !== 'not-started';

const texts: Readonly<Record<Exclude<Outcome, 'killed'>, (input: HeadlineInput) => string>> = {
  graceful: gracefulText,
  removed: ({ timeline }) => exitsText(timeline),
  failed: (input) => firstText(input, 'exit-nonzero'),
  oom: (input) => firstText(input, 'oom-on-exit'),
  overran: overranText,
  forced: forcedText,
  stuck: (input) =>
    `still terminating after ${secondsText(input.timeline.now - input.timeline.zero, 0)}: waiting for ${pendingStep(input)}`,
  'not-started': notStartedText,
  unknown: unknownText,
};

function gracefulText({ timeline, verdict, cause }: HeadlineInput): string {
  const exits = exitsText(timeline) + sidecarDelayText(timeline) + sidecarText(verdict);
  return cause?.clause ? placed(cause.code, cause.clause, exits) : exits;
}

/** Delays before the containers were stopped are printed first, what held the pod afterwards last. */
function placed(code: FindingCode, cause: string, exits: string): string {
  if (/^(node-silent|slow-start)$/.test(code)) return `${cause}, then ${exits}`;
  if (/^(kubelet-restarted|runtime-unavailable)$/.test(code)) return `${cause}; ${exits}`;
  if (/^(finalizer-held|slow-cleanup)$/.test(code)) return `${exits}, then ${cause}`;
  return /^(api-server-silent|job-counts-exit|prestop-cut-off|oom-in-container)$/.test(code)
    ? `${exits}; ${cause}`
    : exits;
}

function exitsText(timeline: Timeline): string {
  const mains = mainContainers(timeline);
  const [slowest] = [...(mains.length > 0 ? mains : ranContainers(timeline))].sort(byGraceUsed);
  if (!slowest) return `nothing was running${stateText(timeline)}`;
  const own = exitText(timeline, slowest);
  return mains.length > 1
    ? `${mains.length === 2 ? 'both' : `all ${mains.length}`} containers exited by themselves, the slowest: ${own}`
    : own;
}

/** The one that used most of its grace period first. */
export const byGraceUsed = (a: ContainerTimeline, b: ContainerTimeline): number =>
  (b.graceUsed?.shown ?? 0) - (a.graceUsed?.shown ?? 0);

/** `preStop took 4.0s, then app exited 2.1s after SIGTERM (61% of the 10s grace period)`. */
function exitText(timeline: Timeline, container: ContainerTimeline): string {
  const { name, preStop, drain, exit, stopSignal } = container;
  const code = exit?.code === undefined ? '' : ` ${exit.code}`;
  const length = preStop?.outcome === 'unknown' ? undefined : preStop?.length;
  const took = length ? lengthText(length) : '';
  const failed = (length?.max ?? 0) < 100 ? 'failed at once' : `failed after ${took}`;
  const hook = length ? `preStop ${preStop?.outcome === 'failed' ? failed : `took ${took}`}, then ` : '';
  const share = shareOf(timeline, container, hook !== '');
  // No stop signal is proven, but after a short hook the container may still have got it.
  const during = preStop ? ` during ${preStop.outlasted ? '' : 'or after '}its preStop hook` : '';
  if (!stopSignal) return `${name} exited${code}${during}${share}`;
  const exited = exit?.code === 0 || exit?.code === undefined ? 'exited' : `exited${code}`;
  return `${hook}${name} ${exited}${drain ? afterText(lengthText(drain), signalName(container)) : ''}${share}`;
}

/** `6.9s`, `≤6.9s` if the removal was seen late. */
export function totalText(timeline: Timeline): string | undefined {
  const { total } = timeline;
  const removed = markOf(timeline, 'removed')?.at;
  return total && (removed && !isSeenAtOnce(removed) ? `≤${outwards(total.max, Math.ceil)}` : lengthText(total));
}

/** `62%`, `≥98%` if it may have exited after the end of its grace period; undefined if that says nothing. */
export function usedShareText(timeline: Timeline, { outcome }: ContainerTimeline, length: Length): string | undefined {
  const [share, grace] = [shareOfGrace(timeline, length), graceMs(timeline)];
  const mayBeLater = share.min < 1 && share.max > 1 && outcome !== 'killed';
  return isShareKnown(share, grace) ? shareText(mayBeLater ? { ...share, max: Infinity } : share, grace) : undefined;
}

/** At most 100%: time past the grace period is printed in seconds, if it certainly exited after its end. */
function shareOf(timeline: Timeline, container: ContainerTimeline, withHook: boolean): string {
  const { pastGrace, drain } = container;
  if (pastGrace) return `, ${lengthText(pastGrace)} past the ${graceText(timeline)}`;
  const used = graceUsedLength(container);
  // The share of another length than the printed one.
  if (!used || (!withHook && drain !== undefined && used !== drain)) return '';
  const counted = usedShareText(timeline, container, container.graceUsed ?? used);
  // Gates and tables count from the kubelet's start: another share than that of a vague length would contradict it.
  if (counted === undefined || (isVague(used) && usedShareText(timeline, container, used) !== counted)) return '';
  return ` (${counted} of its ${graceText(timeline)}${withHook ? ', preStop included' : ''})`;
}

/** Sidecars stop after the main containers (SIGNALS.md §2 S7). */
function sidecarDelayText(timeline: Timeline): string {
  const ran = ranContainers(timeline);
  const last = (kind: ContainerKind, bound: 'earliest' | 'latest' | 'shown'): number =>
    Math.max(...ran.filter((one) => one.kind === kind).map(({ exit }) => exit?.at[bound] ?? -Infinity));
  const min = last('sidecar', 'earliest') - last('container', 'latest');
  const max = last('sidecar', 'latest') - last('container', 'earliest');
  const shown = last('sidecar', 'shown') - last('container', 'shown');
  return min > 0 && shown >= 1000 && shown < Infinity ? `, its sidecars ${lengthText({ min, max, shown })} later` : '';
}

/** A killed or failed sidecar does not change the outcome, but the headline mentions it. */
function sidecarText({ findings }: JudgedVerdict): string {
  const clauses = findings.flatMap(({ code, severity, clause }) =>
    code === 'sidecar-killed' || (code === 'exit-nonzero' && severity !== 'error') ? (clause ?? []) : [],
  );
  return clauses.length > 0 ? `; ${clauses.join('; ')}` : '';
}

function firstText({ timeline, verdict }: HeadlineInput, code: FindingCode): string {
  const { clause = 'a container ended with an error', container } = firstOf([code], verdict.findings) ?? {};
  return clause + endTexts(mainContainers(timeline).filter(({ name }) => name !== container));
}

/** `; web exited 0, worker exited 143`. */
const endTexts = (containers: readonly ContainerTimeline[]): string =>
  containers.length > 0 ? `; ${few(containers.map(endText)).join(', ')}` : '';

const namesOf = (containers: readonly ContainerTimeline[]): string => list(few(containers.map(({ name }) => name)));

const endText = ({ name, exit, outcome }: ContainerTimeline): string =>
  exit?.code === undefined
    ? `the exit of ${name} was not observed`
    : `${name} ${outcome === 'oom' ? 'was OOMKilled' : `exited ${exit.code}`}`;

function killedHeadline({ timeline, verdict, cause }: HeadlineInput): Headline {
  const [first, ...more] = mainContainers(timeline)
    .filter(({ outcome }) => outcome === 'killed')
    .sort(byGraceUsed);
  const name = first?.name ?? 'a container';
  const ofFirst = verdict.findings.filter(({ container }) => container === name);
  const own = cause?.container === name ? cause : firstOf(['no-signal-handling', 'killed-at-grace'], ofFirst);
  const runtime = verdict.findings.find(({ code }) => code === 'runtime-unavailable')?.clause;
  const tail = [
    runtime === undefined ? '' : `, and ${runtime}`,
    more.length === 0
      ? ''
      : `; ${namesOf(more)} ${more.length > 1 ? 'were' : 'was'}${more.some(({ probable }) => probable) ? ' probably' : ''} SIGKILLed too`,
    endTexts(mainContainers(timeline).filter(({ outcome }) => outcome !== 'killed')),
  ].join('');
  if (first?.probable) {
    const text = `${name} was probably killed when its ${graceText(timeline)} ended (137 may also be its own exit code)${tail}`;
    return { brief: text, full: text };
  }
  const head = own?.clause ?? `${name} did not exit`;
  return { brief: `${head} (exit 137)${tail}`, full: `${head}${graceSuffix(timeline, first, own)}${tail}` };
}

/** ` of its 6s grace period`; if it got several grace periods, how long each was. */
function graceSuffix(timeline: Timeline, killed?: ContainerTimeline, cause?: JudgedFinding): string {
  const grace = graceText(timeline);
  if (cause?.code !== 'killed-at-grace' && cause?.code !== 'no-signal-handling') return '';
  if (longestGraceMs(timeline) < minimumGrace) return ` (${grace}; ${minimumGraceText(killed)})`;
  if (cause.code === 'killed-at-grace') return `, at the end of its ${grace}`;
  return (killed?.drain?.shown ?? 0) > longestGraceMs(timeline) + 500 ? ` (${grace})` : ` of its ${grace}`;
}

const minimumGraceText = (container?: ContainerTimeline): string =>
  `the kubelet waits at least ${secondsText(minimumGrace, 0)} after ${signalName(container)}`;

function overranText({ timeline, cause }: HeadlineInput): string {
  const mains = mainContainers(timeline).filter(({ pastGrace }) => pastGrace);
  const late = mains.flatMap(({ name, pastGrace }) =>
    pastGrace ? [`${name} exited ${lengthText(pastGrace)} past the grace period`] : [],
  );
  const because = cause?.code === 'prestop-cut-off' ? `${cause.clause ?? ''}; ` : '';
  if (late.length === 0) return because.slice(0, -2) || `the ${graceText(timeline)} ended before the pod had exited`;
  const hasMinimum = longestGraceMs(timeline) < minimumGrace || because !== '';
  const notKilled = hasMinimum ? `not killed: ${minimumGraceText(mains[0])}` : 'not killed';
  return `${because}${list(few(late))} (${notKilled})`;
}

function forcedText({ timeline, verdict }: HeadlineInput): string {
  const ran = verdict.findings.find(({ code }) => code === 'force-deleted')?.why;
  const abandoned = timeline.containers.filter(({ outcome }) => outcome === 'abandoned');
  const after = timeline.total ? ` after ${lengthText(timeline.total)}` : '';
  return `the pod was removed${after} while ${stillRan(abandoned)}${ran === undefined ? '' : `; ${ran}`}`;
}

function pendingStep({ timeline, verdict }: HeadlineInput): string {
  const finalizing = markOf(timeline, 'finalizing');
  if (finalizing) return `finalizers ${finalizing.note ?? ''}`.trim();
  if (markOf(timeline, 'final-delete')) return 'the API server to delete the pod';
  if (markOf(timeline, 'containers-done')) return "the kubelet's cleanup (volumes, cgroup, sandbox)";
  const acknowledged = markOf(timeline, 'acknowledged');
  const { nodeName } = timeline.pod.spec;
  // Without the finding it may only seem silent: too little time has passed, or nothing would show what it does.
  const isSilent = verdict.findings.some(({ code }) => code === 'node-silent');
  if (!acknowledged)
    return `the kubelet${nodeName ? ` on ${nodeName}` : ''}${isSilent ? ', which is not responding' : ''}`;
  const running = ranContainers(timeline).filter(({ exit }) => !exit);
  const hooked = running.filter(({ preStop, stopSignal }) => preStop && !preStop.end && !stopSignal);
  const hook = hooked.length > 0 ? `, whose preStop hook (${hooked[0]?.preStop?.kind}) may still run` : '';
  const names = namesOf(hooked) || namesOf(running) || 'its containers';
  return `${names} to exit${hook}${acknowledged.note === undefined ? '' : `: ${acknowledged.note}`}`;
}

/** Why nothing was running: the state of the pod when it was deleted. */
function stateText({ pod }: Timeline): string {
  if (isFinished(pod)) return `, the pod had ${pod.status.phase === 'Succeeded' ? 'completed' : 'failed'}`;
  if (pod.spec.nodeName === undefined) return ', the pod was not scheduled yet';
  const states = statusesOf(pod).flatMap(({ name, state: { waiting, terminated } }) => {
    if (waiting?.reason !== undefined) return [`${name} was in ${waiting.reason}`];
    return terminated ? [`${name} had exited ${terminated.exitCode}`] : [];
  });
  return states.length > 0 ? `, ${list(few(states))}` : '';
}

function notStartedText({ timeline, verdict }: HeadlineInput): string {
  if (verdict.exitCode > 128) return 'interrupted before a deletion began';
  const { reason } = timeline.pod.status;
  if (isFinished(timeline.pod) && reason !== undefined)
    return `the kubelet ended the pod by itself (${reason}): nobody deleted it`;
  return timeline.mode === 'evict' ? 'the eviction was not allowed; nothing was deleted' : 'no deletion began';
}

function unknownText(input: HeadlineInput): string {
  const { timeline, verdict } = input;
  const isGone = markOf(timeline, 'removed') !== undefined;
  if (!timeline.deleted)
    return isGone
      ? 'the pod is gone, and its termination was not observed'
      : 'the deletion was requested, and nothing was observed after that';
  if (verdict.exitCode > 128)
    return isGone
      ? 'interrupted before the result was complete'
      : `the pod is still terminating, waiting for ${pendingStep(input)}`;
  const mains = mainContainers(timeline);
  const unclear = mains.filter(({ outcome }) => outcome === 'unknown');
  if (mains.length > 0 && unclear.length === 0)
    return `unclear whether ${namesOf(mains)} exited before or after the ${graceText(timeline)} ended`;
  const ended = unclear.filter(({ exit }) => exit?.code !== undefined);
  const { reason, isCertain } = input.earlier ?? {};
  const why = reason === undefined ? '' : ` (${reason})`;
  const oom = ended.length === 1 ? firstOf(['oom-on-exit'], verdict.findings) : undefined;
  if (ended.length > 0)
    return isCertain
      ? `the kubelet had begun to stop ${namesOf(ended)} before the deletion${why}`
      : (oom?.clause ??
          `unclear what ended ${namesOf(ended)}: the deletion, or ${why ? 'the kubelet, which had begun to stop it' : 'something'} before it${why}`);
  return `the end of ${namesOf(unclear) || plural(mains.length, 'container')} was not observed${input.cause?.clause ? `; ${input.cause.clause}` : ''}`;
}
