/**
 * `-o ndjson`: a line for each mark as soon as it is known, corrections under the same id when more is known, and the
 * report last. The lines' shapes are in schema/ndjson.schema.json, their rules in docs/ndjson.md.
 */
import type { ExitReport, Mark, Time } from '../model/report.ts';
import { jsonText } from './json.ts';

/** A mark that later facts may still move or retract. */
export type ProvisionalMark = Mark & { provisional: boolean };

type Gap = ExitReport['gaps'][number];

export interface Ndjson {
  /** Prints what is new, changed or gone among all marks of the trace. `at`: now, client's clock. */
  marks(at: Time, marks: readonly ProvisionalMark[]): void;
  /** Prints what is new or changed among all gaps so far. */
  gaps(at: Time, gaps: readonly Gap[]): void;
  /** Prints the final state of every mark, then the report. Nothing is written after it. */
  end(report: ExitReport): void;
}

/** Which pod a line is about, in a run over several. */
export type PodOfLine = Pick<ExitReport['pod'], 'namespace' | 'name' | 'uid'>;

type LineContext = { at: Time; pod?: PodOfLine | undefined };

type Line =
  | (LineContext & { type: 'mark'; id: string; revision: number; provisional: boolean; withdrawn?: true; mark: Mark })
  | (LineContext & { type: 'gap'; gap: Gap })
  | { type: 'report'; report: ExitReport };

interface Printed {
  revision: number;
  provisional: boolean;
  withdrawn: boolean;
  mark: Mark;
  text: string;
}

/**
 * `write` gets whole lines with their newlines: all lines of one call at once, since a write costs both ends of a pipe more
 * than a line does. Callers may pass unchanged marks: only changes are printed.
 */
export function createNdjson(write: (lines: string) => void, pod?: PodOfLine): Ndjson {
  const printed = new Map<string, Printed>();
  const printedGaps = new Map<string, string>();
  let lines = '';
  let settling = false;
  let isOver = false;
  let lastAt: Time | undefined;

  const add = (line: Line): void => void (lines += isOver ? '' : `${jsonText(line)}\n`);
  const flush = (): void => {
    if (lines !== '') write(lines);
    lines = '';
  };

  const printMark = (at: Time, id: string, next: Omit<Printed, 'revision' | 'text'>): void => {
    const before = printed.get(id);
    // Compared before it is formatted: escaping all marks each time would cost more than inferring them.
    const text = JSON.stringify(next);
    if (before?.text === text || (before && !settling && isMinorChange(before, next))) return;
    const revision = (before?.revision ?? 0) + 1;
    printed.set(id, { ...next, revision, text });
    const { provisional, withdrawn, mark } = next;
    add({ type: 'mark', at, pod, id, revision, provisional, ...(withdrawn ? { withdrawn } : {}), mark });
  };

  const printMarks = (at: Time, marks: readonly ProvisionalMark[]): void => {
    const present = new Set(marks.map((mark) => mark.id));
    for (const [id, { mark, withdrawn }] of printed) {
      if (!present.has(id) && !withdrawn) printMark(at, id, { mark, provisional: false, withdrawn: true });
    }
    for (const { provisional, ...mark } of marks) printMark(at, mark.id, { mark, provisional, withdrawn: false });
  };

  const printGaps = (at: Time, gaps: readonly Gap[]): void => {
    for (const gap of gaps) {
      const key = JSON.stringify([gap.resource, gap.from, gap.cause]);
      const to = gap.to ?? '';
      if (printedGaps.get(key) === to) continue;
      printedGaps.set(key, to);
      add({ type: 'gap', at, pod, gap });
    }
  };

  return {
    marks(at, marks) {
      lastAt = at;
      printMarks(at, marks);
      flush();
    },
    gaps(at, gaps) {
      printGaps(at, gaps);
      flush();
    },
    end(report) {
      settling = true;
      const at = later(lastSeen(report), lastAt);
      const marks = report.marks.map((mark) => ({ ...mark, provisional: false }));
      printMarks(at, marks);
      printGaps(at, report.gaps);
      add({ type: 'report', report });
      flush();
      isOver = true;
    },
  };
}

/** A narrower interval is printed from this difference on, or with the report. */
const minNarrowingMs = 100;

/** The same mark with only a slightly narrower interval. */
function isMinorChange(before: Printed, next: Omit<Printed, 'revision' | 'text'>): boolean {
  const isSame =
    before.provisional === next.provisional &&
    before.withdrawn === next.withdrawn &&
    before.mark.note === next.mark.note &&
    before.mark.at.basis === next.mark.at.basis;
  const narrowedBy = [
    Date.parse(next.mark.at.earliest) - Date.parse(before.mark.at.earliest),
    Date.parse(before.mark.at.latest) - Date.parse(next.mark.at.latest),
  ];
  return isSame && narrowedBy.every((ms) => ms >= 0) && narrowedBy.reduce((sum, ms) => sum + ms) < minNarrowingMs;
}

/** The report has no "now": its marks are final as of the newest time that it contains. */
function lastSeen(report: ExitReport): Time {
  const times = [...report.observations.map(({ at }) => at), ...report.marks.map(({ at }) => at.latest)];
  return times.reduce(later, times[0] ?? report.grace.deadline);
}

const later = (a: Time, b: Time | undefined): Time => (b !== undefined && b > a ? b : a);
