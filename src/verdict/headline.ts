/** The answer in one sentence, by outcome: what ended the pod, and what took the time. Pure. */
import type { ContainerTimeline, PreStopExit, Timeline } from '../infer/timeline.ts';
import { isFinished, statusesOf } from '../model/pod.ts';
import type { Outcome } from '../model/report.ts';
import type { JudgedFinding, JudgedVerdict } from './finding.ts';
import { gateFailed } from './exit-code.ts';
import { graceUsedLength, afterText, lengthText, secondsText, shareText } from './length-text.ts';
import { graceText, mainsIn, markOf, ranIn, signalName } from './rule-input.ts';
import { list, plural } from './words.ts';

export interface HeadlineInput {
  readonly timeline: Timeline;
  readonly verdict: JudgedVerdict;
  /** Why it was not graceful, or what took the time. */
  readonly cause: JudgedFinding | undefined;
}

/** `brief` follows the first word of the card, `full` follows it in the summary. */
export interface Headline {
  readonly brief: string;
  readonly full: string;
}

const same = (text: string): Headline => ({ brief: text, full: text });

/** The first word of the card; it follows the exit code. */
export function wordOf({ timeline, verdict }: Pick<HeadlineInput, 'timeline' | 'verdict'>): string {
  const { outcome, exitCode, findings, gates } = verdict;
  if (exitCode === gateFailed)
    return findings.some(({ code }) => code === 'requests-lost') && !gates.some(isUnprobedFailure)
      ? 'Requests lost'
      : 'Gate failed';
  if (exitCode > 128) return 'Interrupted';
  if (outcome === 'failed') return `Exited ${firstWith(timeline, 'failed')?.exit?.code ?? 'with an error'}`;
  return words[outcome];
}

const isUnprobedFailure = ({ name, passed }: { name: string; passed: boolean }): boolean =>
  !passed && name !== 'max-lost';

const words: Readonly<Record<Exclude<Outcome, 'failed'>, string>> = {
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
  const { verdict } = input;
  if (verdict.exitCode === gateFailed) return gateHeadline(input);
  return headlines[verdict.outcome](input);
}

const afterTotal = ({ total }: Timeline): string => (total ? ` after ${lengthText(total)}` : '');

function gateHeadline(input: HeadlineInput): Headline {
  const failed = input.verdict.gates.filter(({ passed }) => !passed);
  const text = failed.map(({ name, limit, message }) => `${name}${limit === undefined ? '' : ` ${limit}`}: ${message}`);
  return { brief: text.join('; '), full: [...text, gracefulText(input)].join('; ') };
}

const headlines: Readonly<Record<Outcome, (input: HeadlineInput) => Headline>> = {
  graceful: (input) => same(gracefulText(input)),
  removed: ({ timeline }) => same(`nothing was running${stateText(timeline)}`),
  killed: killedHeadline,
  failed: failedHeadline,
  oom: (input) => same(`${clauseOf(input, 'oom-on-exit')}${rest(input.timeline, 'oom')}`),
  overran: overranHeadline,
  forced: ({ timeline, verdict }) => {
    const ran = verdict.findings.find(({ code }) => code === 'force-deleted')?.why;
    const names = list(withOutcome(timeline, 'abandoned').map(({ name }) => name)) || 'its containers';
    return same(
      `the pod was removed${afterTotal(timeline)} while ${names} still ran${ran === undefined ? '' : `; ${ran}`}`,
    );
  },
  stuck: ({ timeline }) =>
    same(`still terminating after ${secondsText(timeline.now - timeline.zero, 0)}: waiting for ${missingIn(timeline)}`),
  'not-started': (input) => same(notStartedText(input)),
  unknown: (input) => same(unknownText(input)),
};

/** What delayed it before the containers were stopped stands first, what held the object afterwards last. */
function gracefulText(input: HeadlineInput): string {
  const { timeline, cause } = input;
  const exits = exitsText(timeline) + waitText(timeline) + lateReportText(timeline) + sidecarText(input.verdict);
  if (!cause?.clause) return exits;
  if (before.has(cause.code)) return `${cause.clause}, then ${exits}`;
  if (again.has(cause.code)) return `${cause.clause}; ${exits}`;
  if (after.has(cause.code)) return `${exits}, then ${cause.clause}`;
  return asides.has(cause.code) ? `${exits}; ${cause.clause}` : exits;
}

const before: ReadonlySet<string> = new Set(['node-silent', 'slow-start']);
const again: ReadonlySet<string> = new Set(['kubelet-restarted', 'runtime-unavailable']);
const after: ReadonlySet<string> = new Set(['finalizer-held', 'slow-cleanup']);
const asides: ReadonlySet<string> = new Set(['oom-in-container']);

function exitsText(timeline: Timeline): string {
  const mains = mainsIn({ timeline });
  const [slowest] = [...(mains.length > 0 ? mains : ranIn({ timeline }))].sort(byUse);
  if (!slowest) return 'whatever still ran exited by itself';
  const own = exitText(timeline, slowest);
  return mains.length > 1 ? `all ${mains.length} containers exited by themselves, the slowest: ${own}` : own;
}

const byUse = (a: ContainerTimeline, b: ContainerTimeline): number =>
  (b.graceUsed?.shown ?? 0) - (a.graceUsed?.shown ?? 0);

/** `preStop took 4.0s, then app exited 2.1s after SIGTERM (61% of the 10s grace period)`. */
function exitText(timeline: Timeline, container: ContainerTimeline): string {
  const { name, preStop, drain, exit, stopSignal } = container;
  const code = exit?.code === undefined ? '' : ` ${exit.code}`;
  const hook =
    preStop?.length && preStop.outcome !== 'unknown'
      ? `preStop${plannedText(preStop)} ${hookVerb(preStop.outcome)} ${lengthText(preStop.length)}, then `
      : '';
  const share = shareOf(timeline, container, hook === '' ? '' : 'together ');
  if (!stopSignal) return `${name} exited${code}${preStop ? ' during its preStop hook' : ''}${share}`;
  const exited = exit?.code === 0 || exit?.code === undefined ? 'exited' : `exited${code}`;
  return `${hook}${name} ${exited}${drain ? afterText(lengthText(drain), signalName(container)) : ''}${share}`;
}

/** A sleep that took visibly longer than it was to: its kubelet was held up, or the node was. */
const plannedText = ({ sleepSeconds, length }: PreStopExit): string =>
  sleepSeconds !== undefined && length && length.shown - sleepSeconds * 1000 >= noticed
    ? ` (sleep ${sleepSeconds}s)`
    : '';

const hookVerb = (outcome: string): string => (outcome === 'failed' ? 'failed after' : 'took');

/** Never more than all of it: what came after the grace period is said in seconds. */
function shareOf(timeline: Timeline, container: ContainerTimeline, of: string): string {
  const { graceUsed, pastGrace, drain } = container;
  if (pastGrace) return `, ${lengthText(pastGrace)} past the ${graceText({ timeline })}`;
  const grace = Math.max(1, timeline.grace.effectiveSeconds) * 1000;
  // Counted from a second start of the kubelet it says nothing of the whole.
  const isOfSecondStart = drain !== undefined && graceUsed !== undefined && graceUsed.max * grace < drain.min;
  if (!graceUsed || isOfSecondStart || !Number.isFinite(graceUsed.max)) return '';
  const share = graceUsedLength(container, grace);
  return share === undefined ? '' : ` (${of}${shareText(share, grace)} of its ${graceText({ timeline })})`;
}

/** ms that a person notices. */
const noticed = 1000;

/** Sidecars stop after the main containers (SIGNALS.md §2 S7). */
function waitText(timeline: Timeline): string {
  const last = (kinds: readonly string[]): number =>
    Math.max(...ranIn({ timeline }).flatMap(({ kind, exit }) => (exit && kinds.includes(kind) ? [exit.at.shown] : [])));
  const more = last(['sidecar']) - last(['container']);
  return Number.isFinite(more) && more >= noticed ? `, its sidecars ${secondsText(more)} later` : '';
}

/** ms that a person asks about. */
const longReport = 3000;

/** A busy kubelet or API server: the API learns of the last exit only with the status of the whole pod (SIGNALS.md §2 S10). */
function lateReportText(timeline: Timeline): string {
  const done = markOf({ timeline }, 'containers-done')?.at;
  const exits = ranIn({ timeline }).map(({ exit }) => exit?.at.latest ?? Infinity);
  if (!done || exits.length === 0 || done.earliest - Math.max(...exits) < longReport) return '';
  const shown = Math.max(...ranIn({ timeline }).map(({ exit }) => exit?.at.shown ?? 0));
  const length = { min: done.earliest - Math.max(...exits), max: Infinity, shown: done.shown - shown };
  return `, reported by its kubelet ${lengthText({ ...length, max: length.shown * 2 - length.min })} later`;
}

/** A killed or failed sidecar does not make the outcome, and is not passed over. */
function sidecarText({ findings }: JudgedVerdict): string {
  const clauses = findings.flatMap(({ code, severity, clause }) =>
    code === 'sidecar-killed' || (code === 'exit-nonzero' && severity !== 'error') ? (clause ?? []) : [],
  );
  return clauses.length > 0 ? `; ${clauses.join('; ')}` : '';
}

const withOutcome = (timeline: Timeline, outcome: ContainerTimeline['outcome']): ContainerTimeline[] =>
  timeline.containers.filter((one) => one.outcome === outcome);

const firstWith = (timeline: Timeline, outcome: ContainerTimeline['outcome']): ContainerTimeline | undefined =>
  mainsIn({ timeline }).find((one) => one.outcome === outcome);

const clauseOf = ({ verdict }: HeadlineInput, code: JudgedFinding['code']): string =>
  verdict.findings.find((one) => one.code === code)?.clause ?? 'a container ended with an error';

/** `; web exited 0, worker exited 143`. */
function rest(timeline: Timeline, outcome: ContainerTimeline['outcome']): string {
  const others = mainsIn({ timeline }).filter((one) => one.outcome !== outcome);
  const few = others.slice(0, 4).map(endText);
  const more = others.length > few.length ? [`${others.length - few.length} more`] : [];
  return few.length > 0 ? `; ${[...few, ...more].join(', ')}` : '';
}

const endText = ({ name, exit, outcome }: ContainerTimeline): string =>
  exit?.code === undefined
    ? `${name} was not seen to end`
    : `${name} ${outcome === 'oom' ? 'was OOMKilled' : `exited ${exit.code}`}`;

function killedHeadline({ timeline, verdict, cause }: HeadlineInput): Headline {
  const [first, ...more] = mainsIn({ timeline })
    .filter(({ outcome }) => outcome === 'killed')
    .sort(byUse);
  if (!first) return same('a container was SIGKILLed');
  const own = cause?.container === first.name ? cause : undefined;
  const runtime = verdict.findings.find(({ code }) => code === 'runtime-unavailable')?.clause;
  const tail = [
    ...(runtime === undefined ? [] : [`, and ${runtime}`]),
    ...(more.length === 0 ? [] : [`; so ${more.length > 1 ? 'were' : 'was'} ${list(more.map(({ name }) => name))}`]),
    rest(timeline, 'killed'),
  ].join('');
  const grace = graceText({ timeline });
  if (first.probable)
    return same(`${first.name} was probably killed when its ${grace} ended (137 may also be its own exit code)${tail}`);
  const head = own?.clause ?? `${first.name} did not exit`;
  return { brief: `${head} (exit 137)${tail}`, full: `${head}${againstGrace(timeline, first, own)}${tail}` };
}

/** ` of its 6s grace period`; where it was given several of them, how long each was. */
function againstGrace(timeline: Timeline, { drain }: ContainerTimeline, cause: JudgedFinding | undefined): string {
  const grace = graceText({ timeline });
  if (cause?.code === 'killed-at-grace') return `, at the end of its ${grace}`;
  if (cause?.code !== 'no-signal-handling') return '';
  return drain && drain.max > timeline.grace.counted.max * 1000 + 3000 ? ` (${grace})` : ` of its ${grace}`;
}

function failedHeadline(input: HeadlineInput): Headline {
  return same(`${clauseOf(input, 'exit-nonzero')}${rest(input.timeline, 'failed')}`);
}

function overranHeadline({ timeline, cause }: HeadlineInput): Headline {
  const late = mainsIn({ timeline }).filter(({ pastGrace }) => pastGrace);
  const by = late.map(
    ({ name, pastGrace }) => `${name} exited ${pastGrace ? lengthText(pastGrace) : ''} past the grace period`,
  );
  const because = cause?.code === 'prestop-cut-off' ? `${cause.clause ?? ''}; ` : '';
  return same(
    `${because}${by.length > 0 ? `${list(by)} (not killed)` : `the ${graceText({ timeline })} was over before the pod was`}`,
  );
}

/** What a pod that is still there is waiting for. */
function missingIn(timeline: Timeline): string {
  const finalizing = markOf({ timeline }, 'finalizing');
  if (finalizing) return `finalizers ${finalizing.note ?? ''}`.trim();
  if (markOf({ timeline }, 'final-delete')) return 'the API server to delete the pod';
  if (markOf({ timeline }, 'containers-done')) return "the kubelet's cleanup (volumes, cgroup, sandbox)";
  const noticed = markOf({ timeline }, 'acknowledged');
  if (!noticed)
    return `the kubelet${timeline.pod.spec.nodeName ? ` on ${timeline.pod.spec.nodeName}` : ''}, which is not responding`;
  const running = ranIn({ timeline }).filter(({ exit }) => !exit);
  const names = list(running.slice(0, 5).map(({ name }) => name)) || 'its containers';
  return `${names} to exit${noticed.note === undefined ? '' : `: ${noticed.note}`}`;
}

/** Why nothing ran: the state that the deletion found. */
function stateText({ pod }: Timeline): string {
  if (isFinished(pod)) return `, the pod had ${pod.status.phase === 'Succeeded' ? 'completed' : 'failed'}`;
  if (pod.spec.nodeName === undefined) return ', the pod was not scheduled yet';
  const states = statusesOf(pod).flatMap(({ name, state: { waiting, terminated } }) => {
    if (waiting?.reason !== undefined) return [`${name} was in ${waiting.reason}`];
    return terminated ? [`${name} had exited ${terminated.exitCode}`] : [];
  });
  return states.length > 0 ? `, ${list(states.slice(0, 3))}` : '';
}

function notStartedText({ timeline, verdict }: HeadlineInput): string {
  if (verdict.exitCode > 128) return 'interrupted before a deletion began';
  const { reason } = timeline.pod.status;
  if (isFinished(timeline.pod) && reason !== undefined)
    return `the kubelet ended the pod by itself (${reason}): nobody deleted it`;
  return timeline.mode === 'evict' ? 'the eviction was not allowed; nothing was deleted' : 'no deletion began';
}

function unknownText({ timeline, verdict }: HeadlineInput): string {
  const isGone = markOf({ timeline }, 'removed') !== undefined;
  if (!timeline.deleted)
    return isGone
      ? 'the pod is gone, and its termination was not observed'
      : 'the deletion was requested, and nothing was observed after that';
  if (verdict.exitCode > 128)
    return isGone
      ? 'interrupted before the result was complete'
      : `the pod is still terminating, waiting for ${missingIn(timeline)}`;
  const mains = mainsIn({ timeline });
  const unclear = mains.filter(({ outcome }) => outcome === 'unknown');
  if (mains.length > 0 && unclear.length === 0)
    return `unclear whether ${list(mains.map(({ name }) => name))} exited before or after the ${graceText({ timeline })} ended`;
  const ended = unclear.filter(({ exit }) => exit?.code !== undefined);
  if (ended.length > 0)
    return `unclear what ended ${list(ended.map(({ name }) => name))}: the deletion, or something before it`;
  return `the end of ${list(unclear.map(({ name }) => name)) || plural(mains.length, 'container')} was not observed`;
}
