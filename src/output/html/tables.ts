/** Tables folded below the picture: everything that it shows as text, with bounds and evidence. */
import { assumptions } from '../../model/assumptions.ts';
import type { Interval, Timeline } from '../../infer/timeline.ts';
import { lengthText } from '../../verdict/length-text.ts';
import type { Report } from '../../verdict/report.ts';
import { allNotes } from '../../verdict/rule-input.ts';
import { graceShareText, ledgerTexts, phaseTitles } from '../text/details.ts';
import { exitText, markText } from '../mark-text.ts';
import { boundsText, clockText, offsetText } from '../time-text.ts';
import { join, markup, type Child, type Html } from './markup.ts';

export const tablesOf = (report: Report): Child =>
  [findings, ledger, marks, phases, containers, accuracy, observations].map((table) => table(report));

function findings({ verdict, timeline }: Report): Child {
  const listed = listedIn(timeline);
  const rows = verdict.findings.map(({ code, severity, message, advice, evidence }) => [
    markup`<code>${code}</code>`,
    markup`<span class="severity ${severity}">${severity}</span>`,
    [message, advice !== undefined && markup`<small>${advice}</small>`],
    citations(evidence, listed),
  ]);
  return folded('Findings', ['code', 'severity', 'what', 'evidence'], rows);
}

const ledger = ({ ledger: entries }: Report): Child =>
  folded('Who held it up', ['#length', 'owner', 'what'], entries.map(ledgerTexts));

function marks({ timeline }: Report): Child {
  const listed = listedIn(timeline);
  const rows = timeline.marks.map((mark) => {
    const { who, text } = markText(mark, timeline);
    return [
      offset(mark.at, timeline.zero),
      markup`<code>${who}</code>`,
      text,
      basis(mark.at),
      boundsText(mark.at, timeline.zero),
      citations(mark.at.evidence, listed),
    ];
  });
  return folded('Every moment', ['#offset', 'who', 'what', 'basis', '#lies within', 'evidence'], rows);
}

function phases({ timeline }: Report): Child {
  const rows = timeline.phases.map((phase) => [
    markup`<span class="when"><i class="chip ${phase.name}"></i>${phaseTitles[phase.name]}</span>`,
    phase.subject && markup`<code>${phase.subject}</code>`,
    offset(phase.start, timeline.zero),
    lengthText(phase.length),
    `${(phase.length.min / 1000).toFixed(2)} to ${(phase.length.max / 1000).toFixed(2)}s`,
    graceShareText(phase, timeline),
  ]);
  return folded('Phases', ['phase', 'of', '#from', '#length', '#lies within', '#of the grace period'], rows);
}

function containers({ timeline }: Report): Child {
  const moment = (at: Interval | undefined): string => (at ? offset(at, timeline.zero) : '–');
  const rows = timeline.containers.map((container) => [
    markup`<code>${container.name}</code>`,
    container.kind,
    container.preStop ? `${container.preStop.kind}, ${container.preStop.outcome}` : 'none',
    `${moment(container.stopSignal)}${container.stopSignal?.signal === undefined ? '' : ` ${container.stopSignal.signal}`}`,
    moment(container.kill),
    moment(container.exit?.at),
    exitText(container),
  ]);
  return folded('Containers', ['container', 'kind', 'preStop', '#stop signal', '#SIGKILL', '#exit', 'result'], rows);
}

function accuracy({ timeline: { gaps, assumes, clocks, zero } }: Report): Child {
  const clock = (name: string, range: { min: number; max: number } | undefined): Child[][] =>
    range
      ? [[`clock of the ${name}`, `${range.min.toFixed(0)} to ${range.max.toFixed(0)} ms ahead of this machine’s`]]
      : [];
  const rows = [
    ...gaps.map(({ resource, cause, from, to }) => [
      markup`no access: <code>${resource}</code>`,
      `${cause}, from ${((from - zero) / 1000).toFixed(1)}s${to === undefined ? '' : ` to ${((to - zero) / 1000).toFixed(1)}s`}`,
    ]),
    ...clock('API server', clocks.api),
    ...clock('node', clocks.node),
    ...assumes.map((name) => [markup`assumption: <code>${name}</code>`, `at most ${assumptions[name]}s`]),
  ];
  return folded('Accuracy', ['what', 'how much'], rows);
}

/** All observations that something may cite. */
function observations({ timeline }: Report): Child {
  const rows = allNotes(timeline.notes).map(({ seq, at, what }) => [
    markup`<span id="o${seq}">${seq}</span>`,
    markup`<span class="when">${clockText(at, 3, 'utc')}</span>`,
    what,
  ]);
  return folded('Observations', ['#no.', 'arrived (UTC)', 'what'], rows);
}

/** A column title that begins with `#` heads numbers. */
export function folded(title: string, columns: readonly string[], rows: readonly (readonly Child[])[]): Child {
  if (rows.length === 0) return undefined;
  const numeric = columns.map((column) => column.startsWith('#') && markup` class="num"`);
  const head = columns.map((column, index) => markup`<th scope="col"${numeric[index]}>${column.replace('#', '')}</th>`);
  const body = rows.map(
    (row) => markup`<tr>${row.map((cell, index) => markup`<td${numeric[index]}>${cell}</td>`)}</tr>`,
  );
  return markup`
    <details>
      <summary>${title} (${rows.length})</summary>
      <div class="scroll" role="region" aria-label="${title}" tabindex="0">
        <table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>
      </div>
    </details>`;
}

const listedIn = ({ notes }: Timeline): ReadonlySet<number> => new Set(allNotes(notes).map(({ seq }) => seq));

/** Links to the cited observations. */
const citations = (evidence: readonly number[], listed: ReadonlySet<number>): Child =>
  join(
    evidence.map((seq) => (listed.has(seq) ? markup`<a href="#o${seq}">${seq}</a>` : String(seq))),
    ' ',
  );

const offset = (at: Interval, zero: number): string => `${offsetText(at, zero)}s`;

const basis = ({ basis: word }: Interval): Html =>
  markup`<span class="basis">${word === 'observed' ? '◆ observed' : '◇ inferred'}</span>`;
