/** What `-v` adds to the card: the time ledger, phases, findings with their evidence, gaps and assumptions. */
import type { Phase, Timeline } from '../../infer/timeline.ts';
import { assumptions } from '../../model/assumptions.ts';
import type { Finding, LedgerEntry, PhaseName } from '../../model/report.ts';
import { togetherWith } from '../../model/reduce/notes.ts';
import { lengthText, secondsText, shareText } from '../../verdict/length-text.ts';
import type { Report } from '../../verdict/report.ts';
import { allNotes, graceMs, shareOfGrace } from '../../verdict/rule-input.ts';
import type { Pen } from '../palette.ts';
import { dim, flow, padTo, piece, plain, type Piece } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';
import { boundsText, signed } from '../time-text.ts';

export function detailLines(pen: Pen, report: Report, width: number): string[] {
  const blocks = [
    ledgerLines(pen, report, width),
    phaseLines(pen, report, width),
    findingBlock(pen, report, width),
    limitLines(pen, report, width),
  ];
  return blocks.filter((block) => block.length > 0).flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

/** `3.1s  application  app shut down after SIGTERM`: who held up the deletion, in the order of time. */
const ledgerLines = (pen: Pen, { ledger }: Report, width: number): string[] =>
  ledger.map(ledgerTexts).flatMap(([length, owner, what]) => {
    const pieces = [piece('accent', `  ${length.padStart(7)}  ${owner.padEnd(13)}`), plain(`  ${forTerminal(what)}`)];
    return flow(pen, pieces, { width, hang: 26 });
  });

export function ledgerTexts({
  owner,
  subject = '',
  what,
  seconds,
  approximate,
}: LedgerEntry): [string, string, string] {
  const length = approximate ? `≈${secondsText(seconds * 1000, 0)}` : secondsText(seconds * 1000, 2);
  return [length, owner, `${subject} ${what}`.trim()];
}

/** `drain  app  3.1s  31% of the grace period  (+0.10 to +3.22)` */
function phaseLines(pen: Pen, { timeline }: Report, width: number): string[] {
  const rows = timeline.phases.map((phase) => ({
    name: phaseTitles[phase.name],
    subject: forTerminal(phase.subject ?? ''),
    length: lengthText(phase.length),
    share: graceShareText(phase, timeline),
    ends: `from ${boundsText(phase.start, timeline.zero)}, until ${boundsText(phase.end, timeline.zero)}`,
  }));
  const widest = (key: 'name' | 'subject' | 'length'): number => Math.max(0, ...rows.map((row) => row[key].length));
  const [names, subjects, lengths] = [widest('name'), widest('subject'), widest('length')];
  return rows.flatMap(({ name, subject, length, share, ends }) => {
    const pieces = [
      plain(`  ${name.padEnd(names)}  `),
      piece('accent', padTo(subject, subjects)),
      plain(`  ${length.padStart(lengths)}  ${share.padStart(4)}  `),
      dim(ends),
    ];
    return flow(pen, pieces, { width, hang: names + 4 });
  });
}

/** The names of the phases for people. */
export const phaseTitles: Record<PhaseName, string> = {
  accept: 'API accepted',
  notice: 'kubelet reacted',
  'route-removal': 'endpoint removed',
  prestop: 'preStop',
  'sidecar-wait': 'sidecar waited',
  drain: 'drain',
  overtime: 'past grace period',
  cleanup: 'cleanup',
  finalize: 'finalizers',
  replace: 'replacement ready',
};

/** Phases that use up a container's grace period. */
const gracePhases: ReadonlySet<PhaseName> = new Set(['prestop', 'sidecar-wait', 'drain']);

/** The phase's share of the grace period; empty for a phase that does not use it. */
export const graceShareText = ({ name, length }: Phase, timeline: Timeline): string =>
  gracePhases.has(name) ? shareText(shareOfGrace(timeline, length), graceMs(timeline)) : '';

function findingBlock(pen: Pen, { verdict, timeline }: Report, width: number): string[] {
  return verdict.findings.flatMap((finding) => {
    const evidence = evidenceText(finding, timeline);
    const head: Piece[] = [
      piece('strong', `  ${finding.code}`),
      plain(` (${finding.severity}): ${forTerminal(finding.message, 1000)}`),
    ];
    return [
      ...flow(pen, head, { width, hang: 4 }),
      ...(evidence === undefined ? [] : flow(pen, [dim(`    evidence: ${evidence}`)], { width, hang: 6 })),
    ];
  });
}

/** The JSON report has all cited observations. */
const maxEvidence = 5;

function evidenceText({ evidence }: Finding, { notes, zero }: Timeline): string | undefined {
  const cited = allNotes(notes).filter(({ seq }) => evidence.includes(seq));
  if (cited.length === 0) return undefined;
  const shown = cited.slice(-maxEvidence);
  const texts = shown.map(
    ({ at, what }) => `${signed(at - zero, 2)} ${forTerminal(what.split(togetherWith)[0] ?? what, 160)}`,
  );
  return [...texts, ...(cited.length > shown.length ? [`${cited.length - shown.length} more`] : [])].join('; ');
}

function limitLines(pen: Pen, { timeline }: Report, width: number): string[] {
  const offset = (at: number): string => signed(at - timeline.zero, 1);
  const gaps = timeline.gaps.map(
    ({ resource, cause, from, to }) =>
      `${forTerminal(resource)} (${cause}, from ${offset(from)}${to === undefined ? '' : ` to ${offset(to)}`})`,
  );
  const assumed = timeline.assumes.map((name) => `${name} ${assumptions[name]}s`);
  const contradicting = timeline.contradictions.map(({ about, because }) => `${forTerminal(about)}: ${because}`);
  const show = (items: readonly string[], paint: (text: string) => Piece, what: string): string[] =>
    items.length === 0 ? [] : flow(pen, [paint(`  ${what}${items.join(', ')}`)], { width, hang: 4 });
  const warning = (text: string): Piece => piece('warning', text);
  return [
    ...show(gaps, warning, 'no access: '),
    ...show(contradicting, warning, 'not believed, as other evidence contradicts it: '),
    ...show(assumed, dim, 'assumptions: at most '),
  ];
}
