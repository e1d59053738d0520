import { describe, expect, it } from 'vitest';
import { createNdjson } from '../../src/output/machine/ndjson.ts';
import { renderError } from '../../src/output/machine/json.ts';
import type { Instant, MarkName, MarkReport, Time } from '../../src/model/report.ts';
import { reportOfRecording } from '../helpers/recordings.ts';
import { reports } from './helpers/exit-reports.ts';
import { hostileExit } from './helpers/reports.ts';
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
}

const stream = () => {
  const written: string[] = [];
  const ndjson = createNdjson((lines) => written.push(lines));
  const lines = (): Line[] =>
    written
      .join('')
      .split(/(?<=\n)/)
      .map((line) => JSON.parse(line) as Line);
  return { ...ndjson, lines, written };
};

/** Seconds after the request. */
const time = (seconds: number): Time => new Date(Date.parse('2026-11-20T23:04:29.601Z') + seconds * 1000).toISOString();
const within = (from: number, to: number, basis: Instant['basis'] = 'observed'): Instant => ({
  earliest: time(from),
  latest: time(to),
  basis,
  evidence: [3],
});
const mark = (name: MarkName, at: Instant, note?: string): MarkReport => ({
  id: `${name}/app`,
  name,
  subject: 'app',
  at,
  ...(note && { note }),
});
const sure = (mark: MarkReport) => ({ mark, provisional: false });
const maybe = (mark: MarkReport) => ({ mark, provisional: true });
const guess = mark('exited', within(3, 3.4, 'inferred'));
const fact = mark('exited', within(3, 3.2, 'inferred'), 'exit code 0');

describe('-o ndjson', () => {
  it('prints a mark once, however often it is passed, and nothing without a change', () => {
    const { step, lines, written } = stream();
    step(time(0), [sure(guess)]);
    step(time(1), [sure({ ...guess })]);
    expect(lines()).toEqual([
      { type: 'mark', at: time(0), id: 'exited/app', revision: 1, provisional: false, mark: guess },
    ]);
    expect(written).toHaveLength(1);
  });

  it('confirms and corrects a provisional mark under the same id with the next revision', () => {
    const { step, lines } = stream();
    step(time(3.4), [maybe(guess)]);
    step(time(3.5), [sure(guess)]);
    step(time(3.6), [sure(fact)]);
    expect(lines().map(({ id, revision, provisional, mark: printed }) => [id, revision, provisional, printed])).toEqual(
      [
        ['exited/app', 1, true, guess],
        ['exited/app', 2, false, guess],
        ['exited/app', 3, false, fact],
      ],
    );
  });

  it('prints a narrower interval only if it is at least 0.1 s narrower, or with the report, and a moved one at once', () => {
    const { step, end, lines } = stream();
    const removed = (from: number): MarkReport => mark('removed', within(from, 11));
    for (const from of [10, 10.04, 10.08, 10.12, 10.13, 10.11, 10.12]) step(time(11), [sure(removed(from))]);
    end({ ...graceful, marks: [removed(10.12)] });
    expect(lines().flatMap((line) => line.mark?.at.earliest ?? [])).toEqual([10, 10.12, 10.11, 10.12].map(time));
    expect(lines().map(({ revision }) => revision)).toEqual([1, 2, 3, 4, undefined]);
  });

  it('withdraws a mark that did not happen, once, and prints it again if it happens later', () => {
    const { step, lines } = stream();
    for (const marks of [[maybe(guess)], [], [], [sure(fact)]]) step(time(4), marks);
    expect(lines().map(({ revision, withdrawn, mark: printed }) => [revision, withdrawn, printed])).toEqual([
      [1, undefined, guess],
      [2, true, guess],
      [3, undefined, fact],
    ]);
  });

  it('prints the final state of every mark, and then the report', () => {
    const { step, end, lines } = stream();
    const ghost = { ...mark('kill', within(9, 10, 'inferred')), id: 'kill/ghost' };
    step(time(3.4), [maybe(guess), maybe(ghost)]);
    end(graceful);
    step(time(9), [maybe(guess)]);
    const last = new Map(lines().flatMap((line) => (line.type === 'mark' ? [[line.id, line]] : [])));
    expect([...last.values()].filter(({ withdrawn }) => !withdrawn).map((line) => line.mark)).toEqual(
      expect.arrayContaining(graceful.marks),
    );
    expect([...last.values()].every(({ provisional }) => provisional === false)).toBe(true);
    expect(last.get('kill/ghost')?.withdrawn).toBe(true);
    expect(lines().at(-1)).toEqual({ type: 'report', report: graceful });
  });

  it('prints a gap when it begins and again when it ends', () => {
    const { step, lines } = stream();
    const open = { resource: 'pod', from: time(2), cause: 'expired' as const };
    for (const gap of [open, open, { ...open, to: time(64) }]) step(time(64), [], [gap]);
    expect(lines()).toEqual([
      { type: 'gap', at: time(64), gap: open },
      { type: 'gap', at: time(64), gap: { ...open, to: time(64) } },
    ]);
  });

  it('writes all changes of one step together, in whole lines', () => {
    const { step, written } = stream();
    step(time(3.4), [maybe(guess), sure(mark('containers-done', within(3, 3.4)))]);
    expect(written).toEqual([expect.stringMatching(/^.*\n.*\n$/)]);
  });

  it('prints an error as a line with the type "error"', () => {
    const error = { code: 'pod.not-found', message: 'Pod shop/x does not exist.', hint: 'See kubectl get pods.' };
    const line: unknown = JSON.parse(renderError(error, 'lines'));
    expect(line).toMatchObject({ type: 'error', error: { kind: 'Error', code: 'pod.not-found' } });
    expect(faultsBy('ndjson', line)).toEqual([]);
  });

  it.each(reports)('writes only lines that its schema accepts (%s)', (_name, report) => {
    const { step, end, lines } = stream();
    step(time(3.4), [maybe(guess)]);
    end(report);
    expect(lines().flatMap((line) => faultsBy('ndjson', line))).toEqual([]);
  });

  it('prints one line per item even with hostile strings', () => {
    const { end, lines, written } = stream();
    const { marks, gaps } = hostileExit;
    end(hostileExit);
    const types = [...marks.map(() => 'mark'), ...gaps.map(() => 'gap'), 'report'];
    expect(lines().map(({ type }) => type)).toEqual(types);
    expect(unseenIn(written.join(''))).toEqual([]);
  });

  it('has a schema that rejects a mark without a revision', () => {
    expect(faultsBy('ndjson', { type: 'mark', at: time(0), id: 'x', provisional: true, mark: guess })).not.toEqual([]);
  });
});
