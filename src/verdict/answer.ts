/**
 * The answer to a report's three questions: why it took that long, whether clients lost requests, what to change. The card
 * prints it as it is, and the JSON report takes `summary`, `cause`, `traffic` and `fix` from here. Sentences are unescaped,
 * have no final full stop and use `lengthText` for every length. Pure.
 */
import type { Timeline } from '../infer/timeline.ts';
import type { FindingCode } from '../model/report.ts';
import type { JudgedFinding, JudgedVerdict } from './finding.ts';
import { fixesOf, longerGrace, manifestAdvice, type FixAnswer } from './fix.ts';
import { headlineOf, wordOf } from './headline.ts';
import { lossOf } from './loss.ts';
import type { RuleInput } from './rule-input.ts';
import { trafficOf, type TrafficAnswer } from './traffic.ts';

export interface Answer {
  /** The card's first words: `Graceful`, `SIGKILLed`, `Exited 3`, `Requests lost`, `Interrupted`. */
  readonly word: string;
  /** What follows them in the card's first line: `app ignored SIGTERM for 6.0s (exit 137)`. */
  readonly headline: string;
  /** The card's last line, without icon: `SIGKILLed: app ignored SIGTERM for 6.0s of its 6s grace period`. */
  readonly summary: string;
  /** Why it was not graceful, or what took the time. */
  readonly cause?: { readonly code: FindingCode; readonly container?: string };
  /** Why, with its numbers, where the headline does not say it already. */
  readonly why?: string;
  /** What else went wrong with the exit, the gravest first. */
  readonly also: readonly JudgedFinding[];
  readonly traffic: TrafficAnswer;
  /** That new connections had no ready backend, where `traffic` does not say so already. */
  readonly capacity?: string;
  /** What to change where no patch can: the command of the image, the node, a pod without a template. */
  readonly advice: readonly string[];
  /** Patches, the most useful first; empty where nothing can be patched. */
  readonly fix: readonly FixAnswer[];
}

/** `input` is absent where no deletion was observed. */
export function answerOf(timeline: Timeline, verdict: JudgedVerdict, input: RuleInput | undefined): Answer {
  const { findings } = verdict;
  const judged = { timeline, verdict };
  const cause = causeOf(timeline, verdict);
  const word = wordOf(timeline, verdict);
  const { brief, full } = headlineOf({ timeline, verdict, cause });
  const others = findings.filter(({ code }) => code !== cause?.code);
  const worse = others.filter(({ code }) => aggravating.has(code));
  const isGraceFixed = longerGrace(judged) !== undefined;
  const isLossFixed = lossOf(timeline)?.preStopSeconds !== undefined;
  const unfixed = [cause, worse.find(({ code }) => code === 'no-signal-handling')].filter(
    (one) => !(one?.needsGrace && isGraceFixed) && !(one?.code === 'requests-lost' && isLossFixed),
  );
  return {
    word,
    headline: brief,
    summary: `${word}: ${full}`,
    cause: cause && { code: cause.code, container: cause.container },
    why: whyOf(cause, worse, brief),
    also: others.filter((one) => !aggravating.has(one.code) && isNews(one, cause, brief)),
    ...trafficOf(input, findings),
    advice: [...unfixed.map((one) => one?.advice && asClause(one.advice)), manifestAdvice(judged)].flatMap(
      (text) => text ?? [],
    ),
    fix: fixesOf(judged),
  };
}

/** What ended it, the most causal first: where several hold, an earlier one explains a later one. */
const ends: readonly FindingCode[] = [
  'force-deleted',
  'oom-on-exit',
  'prestop-cut-off',
  'prestop-heavy',
  'no-signal-handling',
  'killed-at-grace',
  'exit-nonzero',
];

/** What took the time, where nothing went wrong with the containers. */
const delays: readonly FindingCode[] = [
  'node-silent',
  'runtime-unavailable',
  'kubelet-restarted',
  'finalizer-held',
  'slow-cleanup',
  'slow-start',
  'prestop-heavy',
];

/** Worth a mention even where they cost no time. */
const oddities: readonly FindingCode[] = [
  'requests-lost',
  'endpoint-not-removed',
  'oom-in-container',
  'sidecar-killed',
  'prestop-failed',
  'grace-nearly-spent',
];

/** Undefined where nothing is to be explained. */
function causeOf(timeline: Timeline, { outcome, findings }: JudgedVerdict): JudgedFinding | undefined {
  const isBad = !['graceful', 'removed', 'stuck', 'unknown', 'not-started'].includes(outcome);
  const ending = isBad ? firstOf(ends, endingOf(timeline, findings)) : undefined;
  if (ending) return ending;
  const slowest = findings
    .filter(({ code, cost }) => delays.includes(code) && cost !== undefined)
    .sort((a, b) => (b.cost ?? 0) - (a.cost ?? 0))[0];
  return slowest ?? firstOf([...delays, ...oddities], findings);
}

/** Of containers that did not end well: a hook that was long but harmless explains no other container's kill. */
function endingOf({ containers }: Timeline, findings: readonly JudgedFinding[]): JudgedFinding[] {
  const bad = containers.filter(({ kind, outcome, pastGrace }) => {
    const counts = kind === 'container' || kind === 'init' || outcome === 'abandoned';
    return counts && (['killed', 'oom', 'failed', 'abandoned'].includes(outcome) || pastGrace !== undefined);
  });
  const names = bad.map(({ name }) => name);
  return findings.filter(({ container }) => container === undefined || names.includes(container));
}

const firstOf = (order: readonly FindingCode[], findings: readonly JudgedFinding[]): JudgedFinding | undefined =>
  order.flatMap((code) => findings.find((finding) => finding.code === code) ?? [])[0];

/** What made a bad exit worse than its cause alone. */
const aggravating: ReadonlySet<FindingCode> = new Set([
  'runtime-unavailable',
  'kubelet-restarted',
  'node-silent',
  'grace-shortened-ignored',
  'no-signal-handling',
]);

/** What shows the cause, and what made it worse; nothing that the headline says. */
function whyOf(
  cause: JudgedFinding | undefined,
  worse: readonly JudgedFinding[],
  headline: string,
): string | undefined {
  const parts = [cause?.why, ...worse.map(({ clause, why }) => why ?? clause)];
  const known = [...new Set(parts.flatMap((part) => part ?? []))].filter((part) => !headline.includes(part));
  return known.length > 0 ? known.slice(0, 2).join('; ') : undefined;
}

/** Findings with one cause: where one of them is the cause, the others add nothing. */
const sameCause: readonly (readonly FindingCode[])[] = [
  ['killed-at-grace', 'no-signal-handling', 'prestop-cut-off', 'prestop-heavy', 'grace-nearly-spent', 'exit-nonzero'],
  ['node-silent', 'slow-start', 'kubelet-restarted'],
  ['oom-on-exit', 'killed-at-grace'],
];

/** What the card's rows traffic and capacity say, or -v. */
const inOtherRows: ReadonlySet<FindingCode> = new Set([
  'drain-race',
  'stays-ready',
  'endpoint-not-removed',
  'requests-lost',
  'last-endpoint',
  'no-ready-endpoint',
  'unmanaged-pod',
  'evidence-lost',
]);

/** Neither the headline nor another row says it. */
function isNews(
  { code, severity, clause }: JudgedFinding,
  cause: JudgedFinding | undefined,
  headline: string,
): boolean {
  if (severity === 'info' || inOtherRows.has(code)) return false;
  if (cause && sameCause.some((story) => story.includes(code) && story.includes(cause.code))) return false;
  return clause === undefined || !headline.includes(clause);
}

/** As a row of the card has it: without a capital and a full stop. */
const asClause = (sentence: string): string =>
  sentence.replace(/\.$/, '').replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
