/**
 * `-o ndjson`: a line for each mark as soon as it is known, corrected under the same id when more is known, and the
 * report last. The lines' shapes are in schema/ndjson.schema.json, their rules in docs/ndjson.md.
 */
import type { ExitReport, Mark, Time } from '../model/report.ts';
import { errorDocument, jsonText, type KnownError } from './json.ts';

/** A mark that later facts may still move or take back. */
export type ProvisionalMark = Mark & { provisional: boolean };

type Gap = ExitReport['gaps'][number];

export interface Ndjson {
  /** Prints what is new, changed or gone among all marks of the trace. `at`: client clock, now. */
  marks(at: Time, marks: readonly ProvisionalMark[]): void;
  /** Prints what is new or changed among all gaps so far. */
  gaps(at: Time, gaps: readonly Gap[]): void;
  /** Settles every mark as the report has it, then writes the report. Nothing is written after it. */
  end(report: ExitReport): void;
  /** Ends a stream that comes to no report. */
  fail(error: KnownError): void;
}

/** Which pod a line is about, in a run over several. */
export type PodOfLine = Pick<ExitReport['pod'], 'namespace' | 'name' | 'uid'>;

type News = { at: Time; pod?: PodOfLine | undefined };

type Line =
  | (News & { type: 'mark'; id: string; revision: number; provisional: boolean; withdrawn?: true; mark: Mark })
  | (News & { type: 'gap'; gap: Gap })
  | { type: 'report'; report: ExitReport }
  | { type: 'error'; error: ReturnType<typeof errorDocument> };

interface Printed {
  revision: number;
  provisional: boolean;
  withdrawn: boolean;
  mark: Mark;
  text: string;
}

/**
 * `write` gets whole lines, each with its newline: all that one call brings, at once, since each write costs both ends of a
 * pipe more than a line does. Marks may come as often as one likes: only changes are printed.
 */
export function createNdjson(write: (lines: string) => void, pod?: PodOfLine): Ndjson {
  const printed = new Map<string, Printed>();
  const printedGaps = new Map<string, string>();
  const { add, flush, close } = bufferFor(write);
  let settling = false;
  let lastAt: Time | undefined;

  const printMark = (at: Time, id: string, next: Omit<Printed, 'revision' | 'text'>): void => {
    const before = printed.get(id);
    // Compared as it is: to put all marks in order and make them harmless costs more than to conclude them.
    const text = JSON.stringify(next);
    if (before?.text === text || (before && !settling && isHardlyNews(before, next))) return;
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
    marks: (at, marks) => {
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
      printMarks(
        at,
        report.marks.map((mark) => ({ ...mark, provisional: false })),
      );
      printGaps(at, report.gaps);
      add({ type: 'report', report });
      close();
    },
    fail(error) {
      add({ type: 'error', error: errorDocument(error) });
      close();
    },
  };
}

/** Lines until they are written together; none after `close`. */
function bufferFor(write: (lines: string) => void) {
  let lines: string[] = [];
  let closed = false;
  const flush = (): void => {
    if (lines.length > 0) write(lines.join(''));
    lines = [];
  };
  return {
    add: (line: Line): void => void (closed || lines.push(`${jsonText(line)}\n`)),
    flush,
    close: (): void => void (flush(), (closed = true)),
  };
}

/** ms: what is shaved off an interval is printed when it comes to this much, or with the report. */
const noticeable = 100;

/** The same mark, a little narrower. */
function isHardlyNews(before: Printed, next: Omit<Printed, 'revision' | 'text'>): boolean {
  const isSame =
    before.provisional === next.provisional &&
    before.withdrawn === next.withdrawn &&
    before.mark.note === next.mark.note &&
    before.mark.at.basis === next.mark.at.basis;
  const shaved = [
    Date.parse(next.mark.at.earliest) - Date.parse(before.mark.at.earliest),
    Date.parse(before.mark.at.latest) - Date.parse(next.mark.at.latest),
  ];
  return isSame && shaved.every((ms) => ms >= 0) && shaved.reduce((sum, ms) => sum + ms) < noticeable;
}

/** The report knows no "now": it is settled as of the newest thing it cites. */
function lastSeen(report: ExitReport): Time {
  const times = [...report.observations.map(({ at }) => at), ...report.marks.map(({ at }) => at.latest)];
  return times.reduce(later, times[0] ?? report.grace.deadline);
}

const later = (a: Time, b: Time | undefined): Time => (b !== undefined && b > a ? b : a);
