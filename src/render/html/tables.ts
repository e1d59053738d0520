/** The report's tables: whatever the picture shows can be read, too. */
import { gateWord } from '../outcome-text.ts';
import type { ExitReport, Instant } from '../../model/report.ts';
import { weaker } from '../../verdict/figures.ts';
import { formatSeconds } from '../duration.ts';
import { graceShare } from '../grace-share.ts';
import { formatBounds, zeroOf } from '../offsets.ts';
import { shownIn } from '../shown.ts';
import type { Child, Html } from './tag.ts';
import { join, tag } from './tag.ts';

/** All tables that the report has rows for, each a section with a heading. */
export function tablesOf(report: ExitReport): Html {
  const tables = [gates, phases, containers, endpoints, marks, gaps, certainty, observations];
  return join(tables.map((table) => table(report)));
}

function phases(report: ExitReport): Child {
  const shown = shownIn(report);
  const rows = report.phases.map((phase) => {
    const { name, subject, start, end, seconds } = phase;
    const basis = weaker(start.basis, end.basis);
    return [
      tag('span', { class: 'when' }, tag('i', { class: `chip ${name}` }), name),
      mono(subject),
      shown.offset(start, subject),
      formatSeconds(seconds, basis),
      graceShare(phase) ?? '',
      inWords(basis),
    ];
  });
  return section('Phases', ['phase', 'of', '#from', '#lasted', '#of grace', 'basis'], rows);
}

/** None of a check: its containers have not ended. */
function containers(report: ExitReport): Child {
  if (report.mode === 'check') return undefined;
  const shown = shownIn(report);
  const moment = (name: string, instant: Instant | undefined) => (instant ? shown.offset(instant, name) : '–');
  const rows = report.containers.map(({ name, kind, outcome, preStop, stopSignal, kill, exit }) => [
    mono(name),
    kind,
    outcome,
    preStop ? `${preStop.kind}, ${preStop.outcome}` : 'none',
    `${moment(name, stopSignal)}${stopSignal?.signal === undefined ? '' : ` ${stopSignal.signal}`}`,
    moment(name, kill),
    moment(name, exit?.at),
    exit ? `${exit.code}${exit.reason ? ` ${exit.reason}` : ''}` : '–',
  ]);
  return section(
    'Containers',
    ['container', 'kind', 'outcome', 'preStop', '#stop signal', '#kill', '#exit', 'code'],
    rows,
  );
}

function endpoints(report: ExitReport): Child {
  const shown = shownIn(report);
  const moment = (slice: string, instant: Instant | undefined) => (instant ? shown.offset(instant, slice) : 'not seen');
  const rows = report.endpoints.map(({ service, slice, addressType, unroutedAt, removedAt, otherReady }) => [
    mono(service ?? '–'),
    mono(slice),
    addressType,
    moment(slice, unroutedAt),
    moment(slice, removedAt),
    otherReady,
  ]);
  return section('Endpoints', ['Service', 'slice', 'type', '#unrouted', '#removed', '#other ready'], rows);
}

/** In the order of the report: no effect before its cause. */
function marks(report: ExitReport): Child {
  const zero = zeroOf(report);
  const shown = shownIn(report);
  const rows = report.marks.map(({ name, subject, at, note }) => [
    shown.offset(at, subject),
    join([name, note === undefined ? undefined : tag('small', {}, note)]),
    mono(subject),
    inWords(at.basis),
    formatBounds(zero, at),
    citations(report, at.evidence),
  ]);
  return section('Marks', ['#offset', 'mark', 'of', 'basis', '#lies within', 'evidence'], rows);
}

const gateLooks = {
  passed: { tone: 'good', symbol: '✓' },
  failed: { tone: 'bad', symbol: '✗' },
  'not judged': { tone: 'doubt', symbol: '•' },
} as const;

function gates({ verdict }: ExitReport): Child {
  const rows = verdict.gates.map((gate) => {
    const { tone, symbol } = gateLooks[gateWord(gate)];
    return [mono(gate.name), tag('span', { class: `result ${tone}` }, `${symbol} ${gateWord(gate)}`), gate.message];
  });
  return section('Gates', ['gate', 'result', 'what was measured'], rows);
}

function gaps(report: ExitReport): Child {
  const rows = report.gaps.map(({ resource, from, to, cause }) => [
    mono(resource),
    when(from),
    when(to ?? 'the end'),
    cause,
  ]);
  return section('Gaps', ['resource', 'from', 'to', 'cause'], rows, 'Changes may have been missed here.');
}

function certainty({ clocks, assumes }: ExitReport): Child {
  const rows = [
    ...Object.entries(clocks).map(([name, { offsetMs }]) => [
      `clock of the ${name === 'api' ? 'API server' : name}`,
      `${offsetMs.min} … ${offsetMs.max} ms ahead of the client’s`,
    ]),
    ...assumes.map(({ name, seconds }) => [join(['assumed: ', mono(name)]), `at most ${seconds}s`]),
  ];
  return section('Clocks and assumptions', ['what', 'how much'], rows, 'Every instant above already allows for these.');
}

function observations({ observations: seen }: ExitReport): Child {
  const rows = seen.map(({ seq, at, what }) => [tag('span', { id: `o${seq}` }, seq), when(at), what]);
  return section('Observations', ['#no.', 'seen at', 'what was seen'], rows, 'What the marks and findings cite.');
}

/** A title with `#` before it heads numbers. */
function section(title: string, columns: readonly string[], rows: readonly (readonly Child[])[], note?: string): Child {
  if (rows.length === 0) return undefined;
  const id = `t-${title.toLowerCase().replaceAll(' ', '-')}`;
  const numeric = columns.map((column) => column.startsWith('#') && 'num');
  const cell = (child: Child, index: number): Html => tag('td', { class: numeric[index] }, child);
  const head = columns.map((column, index) =>
    tag('th', { scope: 'col', class: numeric[index] }, column.replace('#', '')),
  );
  const table = tag(
    'table',
    {},
    tag('thead', {}, tag('tr', {}, ...head)),
    tag('tbody', {}, ...rows.map((row) => tag('tr', {}, ...row.map(cell)))),
  );
  return tag(
    'section',
    { 'aria-labelledby': id },
    tag('h2', { id }, title),
    note !== undefined && tag('p', { class: 'note' }, note),
    tag('div', { class: 'scroll', role: 'region', 'aria-labelledby': id, tabindex: 0 }, table),
  );
}

/** Links to the observations that prove it. */
export function citations(report: ExitReport, evidence: readonly number[]): Html {
  const known = new Set(report.observations.map(({ seq }) => seq));
  const links = evidence.map((seq) => (known.has(seq) ? tag('a', { href: `#o${seq}` }, seq) : String(seq)));
  return links.length === 0 ? tag('span', {}, '–') : join(links, ' ');
}

const mono = (name: string | undefined): Child => (name === undefined ? '' : tag('code', {}, name));

const when = (time: string): Html => tag('span', { class: 'when' }, time);

const inWords = (basis: Instant['basis']): Html =>
  tag('span', { class: 'basis' }, basis === 'observed' ? '◆ observed' : '◇ inferred');
