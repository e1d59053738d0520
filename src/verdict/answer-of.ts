/** The answer to a report's three questions: why it took that long, whether clients lost requests, what to change. Pure. */
import type { Timeline } from '../infer/timeline.ts';
import type { FindingCode } from '../model/report.ts';
import type { Answer } from './answer.ts';
import type { JudgedFinding, JudgedVerdict } from './finding.ts';
import { fixesOf, manifestAdvice } from './fix.ts';
import { headlineOf, wordOf } from './headline.ts';
import type { RuleInput } from './rule-input.ts';
import { trafficOf } from './traffic.ts';

/** `input` is absent where nobody was seen to delete the pod. */
export function answerOf(timeline: Timeline, verdict: JudgedVerdict, input: RuleInput | undefined): Answer {
  const cause = causeOf(timeline, verdict);
  const word = wordOf({ timeline, verdict });
  const { brief, full } = headlineOf({ timeline, verdict, cause });
  return {
    word,
    headline: brief,
    summary: `${word}: ${full}`,
    cause: cause && { code: cause.code, container: cause.container },
    why: notSaid(whyOf(verdict, cause), brief),
    traffic: trafficOf(input, verdict.findings),
    advice: [cause && adviceOf(cause), manifestAdvice({ timeline, verdict })].filter(Boolean).join('; ') || undefined,
    fix: fixesOf({ timeline, verdict }),
  };
}

/** Nothing is said twice. */
const notSaid = (why: string | undefined, headline: string): string | undefined =>
  why !== undefined && headline.includes(why) ? undefined : why;

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

/** Worth a word even where they cost no time. */
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

/** What shows the cause, and what made it worse. */
function whyOf({ findings }: JudgedVerdict, cause: JudgedFinding | undefined): string | undefined {
  const worse = findings.filter(({ code }) => code !== cause?.code && aggravating.has(code));
  const parts = [cause?.why, ...worse.map(({ clause, why }) => why ?? clause)];
  const known = [...new Set(parts.flatMap((part) => part ?? []))];
  return known.length > 0 ? known.slice(0, 2).join('; ') : undefined;
}

const aggravating: ReadonlySet<FindingCode> = new Set([
  'runtime-unavailable',
  'kubelet-restarted',
  'node-silent',
  'grace-shortened-ignored',
]);

/** Of what a patch cannot do: the image's own command, the node, a controller. */
const beyondPatches: ReadonlySet<FindingCode> = new Set([
  'no-signal-handling',
  'node-silent',
  'runtime-unavailable',
  'kubelet-restarted',
  'finalizer-held',
  'slow-cleanup',
  'oom-on-exit',
  'oom-in-container',
  'exit-nonzero',
  'prestop-failed',
  'endpoint-not-removed',
  'grace-shortened-ignored',
  'force-deleted',
  'sidecar-killed',
  'prestop-cut-off',
  'prestop-heavy',
  'killed-at-grace',
]);

const adviceOf = ({ code, advice }: JudgedFinding): string | undefined =>
  beyondPatches.has(code) && advice !== undefined ? advice.replace(/\.$/, '') : undefined;
