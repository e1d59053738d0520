import { describe, expect, it } from 'vitest';
import type { ProvisionalMark } from '../../src/output/machine/ndjson.ts';
import { renderError } from '../../src/output/machine/json.ts';
import { createNdjson } from '../../src/output/machine/ndjson.ts';
import type { MarkReport } from '../../src/model/report.ts';
import { hostile } from './helpers/hostile.ts';
import { inferred, mark, observed, time } from './helpers/report-parts.ts';
import { reportOfRecording } from '../helpers/recordings.ts';
import { reports } from './helpers/exit-reports.ts';
import { faultsBy } from '../helpers/schemas.ts';
import { unseenIn } from './helpers/unseen.ts';

const graceful = await reportOfRecording('graceful-exit');

interface Line {
  type: string;
  id?: string;
  revision?: number;
  provisional?: boolean;
  withdrawn?: boolean;
  mark?: MarkReport;
  report?: unknown;
}

const stream = () => {
  const written: string[] = [];
  return {
    ndjson: createNdjson((lines) => written.push(lines)),
    lines: () =>
      written
        .join('')
        .split(/(?<=\n)/)
        .map((line) => JSON.parse(line) as Line),
    written,
  };
};
const sure = (value: MarkReport): ProvisionalMark => ({ ...value, provisional: false });
const maybe = (value: MarkReport): ProvisionalMark => ({ ...value, provisional: true });
const guess = mark('exited', inferred(3, 3.4, 6), 'app');
const fact = mark('exited', inferred(3, 3.2, 6, 7), 'app', 'exit code 0');

describe('-o ndjson', () => {
  it('prints a mark once, however often it is passed', () => {
    const { ndjson, lines } = stream();
    const requested = mark('requested', observed(0, 0.001, 1));
    ndjson.marks(time(0), [sure(requested)]);
    ndjson.marks(time(1), [sure({ ...requested })]);
    expect(lines()).toEqual([
      { type: 'mark', at: time(0), id: 'requested', revision: 1, provisional: false, mark: requested },
    ]);
  });

  it('confirms a provisional mark under the same id and the next revision', () => {
    const { ndjson, lines } = stream();
    ndjson.marks(time(3.4), [maybe(guess)]);
    ndjson.marks(time(3.5), [sure(guess)]);
    expect(lines().map(({ id, revision, provisional }) => [id, revision, provisional])).toEqual([
      ['exited/app', 1, true],
      ['exited/app', 2, false],
    ]);
  });

  it('corrects a mark whose instant was narrowed', () => {
    const { ndjson, lines } = stream();
    ndjson.marks(time(3.4), [maybe(guess)]);
    ndjson.marks(time(3.5), [maybe(fact)]);
    expect(lines()[1]).toMatchObject({ revision: 2, provisional: true, mark: fact });
  });

  it('prints a narrower interval only if it is at least 0.1 s narrower, or with the report', () => {
    const { ndjson, lines } = stream();
    const removed = (from: number): MarkReport => mark('removed', observed(from, 11, 7));
    for (const from of [10, 10.04, 10.08, 10.12, 10.13]) ndjson.marks(time(11), [sure(removed(from))]);
    const report = { ...graceful, marks: [removed(10.13)] };
    ndjson.end(report);
    expect(lines().flatMap((line) => line.mark?.at.earliest ?? [])).toEqual([10, 10.12, 10.13].map(time));
    expect(lines().map(({ revision }) => revision)).toEqual([1, 2, 3, undefined]);
  });

  it('prints every moved mark at once, however small the difference', () => {
    const { ndjson, lines } = stream();
    for (const from of [10, 9.99]) ndjson.marks(time(11), [sure(mark('removed', observed(from, 11, 7)))]);
    expect(lines()).toHaveLength(2);
  });

  it('withdraws a mark that did not happen, once, and prints it again if it happens later', () => {
    const { ndjson, lines } = stream();
    ndjson.marks(time(1.8), [maybe(guess)]);
    ndjson.marks(time(4.6), []);
    ndjson.marks(time(4.7), []);
    ndjson.marks(time(10), [sure(fact)]);
    expect(lines().map(({ revision, withdrawn, mark: printed }) => [revision, withdrawn, printed])).toEqual([
      [1, undefined, guess],
      [2, true, guess],
      [3, undefined, fact],
    ]);
  });

  it('prints the final state of every mark, and then the report', () => {
    const { ndjson, lines } = stream();
    const ghost = mark('kill', inferred(9, 10, 3), 'ghost');
    ndjson.marks(time(3.4), [maybe(guess), maybe(ghost)]);
    ndjson.end(graceful);
    ndjson.marks(time(9), [maybe(guess)]);
    const last = new Map(
      lines()
        .filter(({ type }) => type === 'mark')
        .map((line) => [line.id, line]),
    );
    expect([...last.values()].filter(({ withdrawn }) => !withdrawn).map((line) => line.mark)).toEqual(
      expect.arrayContaining(graceful.marks),
    );
    expect([...last.values()].every(({ provisional }) => provisional === false)).toBe(true);
    expect(last.get('kill/ghost')?.withdrawn).toBe(true);
    expect(lines().at(-1)).toEqual({ type: 'report', report: graceful });
  });

  it('prints a gap when it begins and again when it ends', () => {
    const { ndjson, lines } = stream();
    const open = { resource: 'pod', from: time(2), cause: 'expired' as const };
    ndjson.gaps(time(5), [open]);
    ndjson.gaps(time(6), [open]);
    ndjson.gaps(time(64), [{ ...open, to: time(64) }]);
    expect(lines()).toEqual([
      { type: 'gap', at: time(5), gap: open },
      { type: 'gap', at: time(64), gap: { ...open, to: time(64) } },
    ]);
  });

  it('writes all changes of one step together, in whole lines', () => {
    const { ndjson, written } = stream();
    ndjson.marks(time(3.4), [maybe(guess), sure(mark('containers-done', observed(3, 3.4, 6)))]);
    expect(written.map((lines) => lines.match(/\n/g)?.length)).toEqual([2]);
    expect(written[0]?.endsWith('\n')).toBe(true);
  });

  it('writes nothing without a change', () => {
    const { ndjson, written } = stream();
    ndjson.marks(time(3.4), []);
    ndjson.gaps(time(3.4), []);
    expect(written).toEqual([]);
  });

  it('prints an error as a line with the type "error"', () => {
    const error = { code: 'pod.not-found', message: 'Pod shop/x does not exist.', hint: 'See kubectl get pods.' };
    const line = renderError(error, 'lines');
    expect(JSON.parse(line)).toMatchObject({ type: 'error', error: { kind: 'Error', code: 'pod.not-found' } });
    expect(faultsBy('ndjson', JSON.parse(line))).toEqual([]);
  });

  it.each(reports)('writes only lines that its schema accepts (%s)', (_name, sample) => {
    const { ndjson, lines } = stream();
    ndjson.marks(time(3.4), [maybe(guess)]);
    ndjson.end(sample());
    expect(lines().flatMap((line) => faultsBy('ndjson', line))).toEqual([]);
  });

  it('prints one line per item even with hostile strings', () => {
    const { ndjson, lines, written } = stream();
    const { marks, gaps } = hostile();
    ndjson.end(hostile());
    const types = [...marks.map(() => 'mark'), ...gaps.map(() => 'gap'), 'report'];
    expect(lines().map(({ type }) => type)).toEqual(types);
    expect(unseenIn(written.join(''))).toEqual([]);
  });

  it('has a schema that rejects a mark without a revision', () => {
    expect(faultsBy('ndjson', { type: 'mark', at: time(0), id: 'x', provisional: true, mark: guess })).not.toEqual([]);
  });
});
