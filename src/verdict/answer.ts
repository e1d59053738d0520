/**
 * The answer to a report's three questions, for the card and for `summary`, `cause`, `traffic` and `fix` of the JSON
 * report. Sentences are unescaped, have no final full stop and use `lengthText` for every length. Pure.
 */
import type { Timeline } from '../infer/timeline.ts';
import type { WithOptional } from '../model/observe/read.ts';
import type { FindingCode, FixReport, Outcome } from '../model/report.ts';
import { earlierStop } from './ledger.ts';
import { exitCodes } from './policy.ts';
import { firstOf, inOtherRows, type JudgedFinding, type JudgedVerdict } from './finding.ts';
import { headlineOf, wordOf } from './headline.ts';
import { mainContainers, type RuleInput } from './rule-input.ts';
import { trafficOf } from './traffic.ts';

export interface ExitAnswer extends Readonly<WithOptional<ReturnType<typeof answerOf>>> {
  /** What to change if no patch can: the command of the image, the node, a pod without a template. */
  readonly advice: readonly string[];
  /** Patches, the most useful first; empty where nothing can be patched. */
  readonly fix: readonly FixReport[];
}

/** `input` is absent if no deletion was observed. */
export function answerOf(timeline: Timeline, verdict: JudgedVerdict, input: RuleInput | undefined) {
  const { findings } = verdict;
  const cause = causeOf(timeline, verdict);
  const word = wordOf(timeline, verdict);
  const { brief, full } = headlineOf({ timeline, verdict, cause, earlier: input && earlierStop(input) });
  const others = findings.filter(({ code }) => code !== cause?.code);
  const aggravations = others.filter(({ code }) => aggravating.has(code));
  const traffic = trafficOf(input, findings);
  return {
    /** The card's first words: `Graceful`, `SIGKILLed`, `Exited 3`, `Requests lost`, `Interrupted`. */
    word,
    /** What follows them in the card's first line: `app ignored SIGTERM for 6.0s (exit 137)`. */
    headline: brief,
    /** The card's last line, without icon: `SIGKILLed: app ignored SIGTERM for 6.0s of its 6s grace period`. */
    summary: `${word}: ${full}`,
    /** Why it was not graceful, or what took the time. */
    cause: cause && { code: cause.code, container: cause.container },
    /** The reason with its numbers, if the headline does not give it. */
    why: whyOf(cause, aggravations, [brief, traffic.reason]),
    /** What else went wrong with the exit, most severe first. */
    also: others.filter((finding) => !aggravating.has(finding.code) && isNew(finding, cause, brief)),
    traffic,
  };
}

/** Causes of a bad exit. If several hold, an earlier one explains a later one. */
const badExitCauses: readonly FindingCode[] = [
  'force-deleted',
  'oom-on-exit',
  'prestop-cut-off',
  'prestop-heavy',
  'no-signal-handling',
  'killed-at-grace',
  'exit-nonzero',
];

/** Worth a mention even if they cost no time. */
const noteworthy: readonly FindingCode[] = [
  'kubelet-restarted',
  'runtime-unavailable',
  'prestop-cut-off',
  'requests-lost',
  'endpoint-not-removed',
  'oom-in-container',
  'job-counts-exit',
  'sidecar-killed',
  'prestop-failed',
  'grace-nearly-spent',
];

function causeOf(timeline: Timeline, { outcome, findings, exitCode }: JudgedVerdict): JudgedFinding | undefined {
  const isBad = exitCode !== exitCodes.stuck && exitCodes[outcome] === exitCodes.failed;
  const ending = isBad ? firstOf(badExitCauses, findingsOfBadExits(timeline, outcome, findings)) : undefined;
  const [slowest] = findings
    .filter(({ delayMs }) => delayMs !== undefined)
    .sort((a, b) => (b.delayMs ?? 0) - (a.delayMs ?? 0));
  return ending ?? slowest ?? firstOf(noteworthy, findings);
}

/** Findings about containers that ended as the headline says: what another one did explains none of them. */
function findingsOfBadExits(timeline: Timeline, outcome: Outcome, findings: readonly JudgedFinding[]) {
  const counted = outcome === 'forced' ? timeline.containers : mainContainers(timeline);
  const ended = outcome === 'forced' ? 'abandoned' : outcome;
  const bad = counted.filter((one) => (ended === 'overran' ? one.pastGrace : one.outcome === ended));
  return findings.filter(({ container }) => container === undefined || bad.some(({ name }) => name === container));
}

/** What made a bad exit worse than its cause alone. */
const aggravating: ReadonlySet<FindingCode> = new Set([
  'requests-lost',
  'job-counts-exit',
  'api-server-silent',
  'runtime-unavailable',
  'kubelet-restarted',
  'node-silent',
  'grace-shortened-ignored',
  'no-signal-handling',
]);

/** Explains the cause and what made it worse, without what other rows already say. */
function whyOf(
  cause: JudgedFinding | undefined,
  aggravations: readonly JudgedFinding[],
  otherRows: readonly string[],
): string | undefined {
  // The headline of a bad exit or a failed gate does not say what took the time.
  const delay = cause?.delayMs === undefined ? undefined : cause.clause;
  const parts = [delay, cause?.why, ...aggravations.map(({ clause, why }) => why ?? clause)];
  const details = [...new Set(parts.flatMap((part) => part ?? []))].filter(
    (part) => !otherRows.some((row) => row.includes(part)),
  );
  return details.length > 0 ? details.slice(0, 3).join('; ') : undefined;
}

/** Groups of findings with one cause: if one of them is the reported cause, the others add nothing. */
const sameCause: readonly (readonly FindingCode[])[] = [
  ['killed-at-grace', 'no-signal-handling', 'prestop-cut-off', 'prestop-heavy', 'grace-nearly-spent', 'exit-nonzero'],
  ['node-silent', 'slow-start', 'kubelet-restarted'],
  ['oom-on-exit', 'killed-at-grace'],
];

/** Neither the headline nor another row of the card says it. */
function isNew(
  { code, severity, clause, container }: JudgedFinding,
  cause: JudgedFinding | undefined,
  headline: string,
): boolean {
  if (severity === 'info' || inOtherRows.has(code)) return false;
  const groups = sameCause.filter((group) => group.includes(code) && cause?.container === container);
  if (groups.some((group) => cause && group.includes(cause.code))) return false;
  return clause === undefined || !headline.includes(clause);
}
