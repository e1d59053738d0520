/**
 * What a run says while it lasts, held against what it says later and against what really happened: every prefix of
 * what was observed is asked for its timeline and its report.
 */
import type { Observation } from '../../src/model/observation.ts';
import { reduce } from '../../src/model/reduce.ts';
import type { ExitReport } from '../../src/model/report.ts';
import type { Mark } from '../../src/infer/timeline.ts';
import { timelineOf } from '../../src/infer/conclude.ts';
import type { Trace } from '../../src/model/trace.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { exitReportFrom } from './exit-report.ts';

/** When a mark's moment really was, client ms; undefined where nobody knows. */
export type Truths = (id: string) => number | undefined;

interface Standing {
  lo: number;
  hi: number;
}

export interface Heard {
  /** One line for each word that was broken. */
  broken: string[];
  /** Times that a lasting mark was held against what had been said of it, or against the truth. */
  held: number;
}

/** Client times are told to the millisecond, rounded outward. */
const outward = ({ at: { earliest, latest, open } }: Mark): Standing => ({
  lo: open ? -Infinity : Math.floor(earliest),
  hi: Math.ceil(latest),
});

export function listenTo(observations: readonly Observation[], truths: Truths): Heard {
  const standing = new Map<string, Standing>();
  const claims = new Map<string, string>();
  const broken: string[] = [];
  let held = 0;
  let trace: Trace = emptyTrace;
  for (const observation of observations) {
    trace = reduce(trace, observation);
    const say = (what: string): void => void broken.push(`observation ${observation.seq}: ${what}`);
    const marks = timelineOf(trace)?.marks ?? [];
    held += markWords(trace, marks, standing, truths, say);
    const report = exitReportFrom(trace);
    if (!report) continue;
    for (const id of unsettledIn(report, trace, marks)) say(`the report has ${id}, which may be taken back`);
    if (!trace.gone) claimWords(report, claims, say);
  }
  return { broken, held };
}

/** A mark that stands stays, moves only inside what was said of it, and holds the truth all along. */
function markWords(
  { now }: Trace,
  marks: readonly Mark[],
  standing: Map<string, Standing>,
  truths: Truths,
  say: (what: string) => void,
): number {
  const lasting = marks.filter((mark) => !mark.provisional);
  for (const id of standing.keys())
    if (!lasting.some((mark) => mark.id === id)) {
      say(`${id} vanished, or is no longer sure`);
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

/** A run that is left before the object is gone reports only what stays. */
const unsettledIn = (report: ExitReport, { gone }: Trace, marks: readonly Mark[]): string[] =>
  gone ? [] : report.marks.map(({ id }) => id).filter((id) => marks.find((mark) => mark.id === id)?.provisional);

/** Words that say "not yet": whatever comes after them contradicts nothing. */
const open = new Set(['unknown', 'stuck', 'not-started']);

/** While the object is there, an outcome, a trigger or a finding that was told is not taken back. */
function claimWords(report: ExitReport, claims: Map<string, string>, say: (what: string) => void): void {
  const told = new Map<string, string>([
    ['outcome', report.verdict.outcome],
    ['trigger', report.trigger.kind],
    ...report.containers.map(({ name, outcome }) => [`outcome of ${name}`, outcome] as const),
    ...report.containers.flatMap(({ name, preStop }) =>
      preStop ? [[`hook of ${name}`, preStop.outcome] as const] : [],
    ),
    ...report.verdict.findings.map(({ code }) => [`finding ${code}`, 'there'] as const),
  ]);
  for (const [what, before] of claims)
    if (!open.has(before) && told.get(what) !== before) say(`${what} was ${before}, is ${told.get(what) ?? 'gone'}`);
  for (const [what, now] of told) claims.set(what, now);
}
