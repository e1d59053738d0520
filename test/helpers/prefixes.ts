/**
 * Compares the timeline and the report after every observation of a run with those after later observations, and with
 * the true instants.
 */
import type { Observation } from '../../src/model/observation.ts';
import { reduce } from '../../src/model/reduce.ts';
import type { ExitReport } from '../../src/model/report.ts';
import type { Mark } from '../../src/infer/timeline.ts';
import { emptyTrace, type Trace } from '../../src/model/trace.ts';
import { reportOf } from '../../src/advice/report.ts';
import { exitReportOf } from '../../src/verdict/exit-report.ts';

/** The true instant of a mark, client ms; undefined if unknown. */
export type Truths = (id: string) => number | undefined;

interface Standing {
  lo: number;
  hi: number;
}

export interface PrefixCheck {
  /** One line for each claim that was withdrawn or is untrue. */
  broken: string[];
  /** How many marks were compared. */
  compared: number;
}

/** Reports print milliseconds, rounded outward. */
const outward = ({ at: { earliest, latest, open } }: Mark): Standing => ({
  lo: open ? -Infinity : Math.floor(earliest),
  hi: Math.ceil(latest),
});

export function checkPrefixes(observations: readonly Observation[], truths: Truths): PrefixCheck {
  const standing = new Map<string, Standing>();
  const claims = new Map<string, string>();
  const broken: string[] = [];
  let compared = 0;
  let trace: Trace = emptyTrace;
  for (const observation of observations) {
    trace = reduce(trace, observation);
    const say = (what: string): void => void broken.push(`observation ${observation.seq}: ${what}`);
    const rendered = reportOf(trace);
    if (!rendered) continue;
    const { marks, phases } = rendered.timeline;
    for (const { name, end } of phases) if (end.latest > trace.now + 1) say(`${name} ends in the future`);
    compared += checkMarks(trace, marks, standing, truths, say);
    const report = exitReportOf(rendered);
    for (const id of unsettledIn(report, trace, marks)) say(`the report has ${id}, which is provisional`);
    if (!trace.gone) checkClaims(report, claims, say);
  }
  return { broken, compared };
}

/** A mark that is not provisional stays, moves only within its former interval, and always contains the truth. */
function checkMarks(
  { now }: Trace,
  marks: readonly Mark[],
  standing: Map<string, Standing>,
  truths: Truths,
  say: (what: string) => void,
): number {
  const lasting = marks.filter((mark) => !mark.provisional);
  for (const id of standing.keys())
    if (!lasting.some((mark) => mark.id === id)) {
      say(`${id} vanished, or became provisional`);
      standing.delete(id);
    }
  for (const mark of marks) if (mark.at.latest > now + 1) say(`${mark.id} lies in the future`);
  for (const mark of lasting) {
    const { lo, hi } = outward(mark);
    const before = standing.get(mark.id) ?? { lo: -Infinity, hi: Infinity };
    const truth = truths(mark.id);
    if (truth !== undefined && (truth < lo || truth > hi)) say(`${mark.id} at ${truth} is not in ${lo} … ${hi}`);
    if (lo > before.hi || hi < before.lo) say(`${mark.id} moved from ${before.lo} … ${before.hi} to ${lo} … ${hi}`);
    standing.set(mark.id, { lo: Math.max(lo, before.lo), hi: Math.min(hi, before.hi) });
  }
  return lasting.length;
}

/** A run that is interrupted before the object is gone reports no provisional mark. */
const unsettledIn = (report: ExitReport, { gone }: Trace, marks: readonly Mark[]): string[] =>
  gone ? [] : report.marks.map(({ id }) => id).filter((id) => marks.find((mark) => mark.id === id)?.provisional);

/** Outcomes of an incomplete trace: later outcomes do not contradict them. */
const open = new Set(['unknown', 'stuck', 'not-started']);

/** While the object exists, a reported outcome, trigger or finding is not withdrawn. */
function checkClaims(report: ExitReport, claims: Map<string, string>, say: (what: string) => void): void {
  const reported = new Map<string, string>([
    ['outcome', report.verdict.outcome],
    ['trigger', report.trigger.kind],
    ...report.containers.map(({ name, outcome }) => [`outcome of ${name}`, outcome] as const),
    ...report.containers.flatMap(({ name, preStop }) =>
      preStop ? [[`hook of ${name}`, preStop.outcome] as const] : [],
    ),
    ...report.verdict.findings.map(({ code }) => [`finding ${code}`, 'there'] as const),
  ]);
  for (const [what, before] of claims)
    if (!open.has(before) && reported.get(what) !== before)
      say(`${what} was ${before}, is ${reported.get(what) ?? 'gone'}`);
  for (const [what, now] of reported) claims.set(what, now);
}
