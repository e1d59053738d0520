/** What `-v` adds to the card: phases, findings with their evidence, gaps and assumptions. */
import { assumptions } from '../model/assumptions.ts';
import type { Finding } from '../model/report.ts';
import { togetherWith } from '../model/reduce/notes.ts';
import type { Note } from '../model/trace.ts';
import { lengthText, shareText } from '../verdict/length-text.ts';
import type { Report } from '../verdict/report.ts';
import type { Pen } from './palette.ts';
import { dim, flow, padTo, piece, plain, type Piece } from './prose.ts';
import { forTerminal } from './safe-text.ts';
import { boundsText, signed } from './time-text.ts';

export function detailLines(pen: Pen, report: Report, width: number): string[] {
  const blocks = [phaseLines(pen, report, width), findingBlock(pen, report, width), limitLines(pen, report, width)];
  return blocks.filter((block) => block.length > 0).flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

/** `drain  app  3.1s  31% of the grace period  (+0.10 to +3.22)` */
function phaseLines(pen: Pen, { timeline }: Report, width: number): string[] {
  const rows = timeline.phases.map(({ name, subject = '', length, start, end }) => ({
    name: phaseTitles[name],
    subject: forTerminal(subject),
    length: lengthText(length),
    share: gracePhases.has(name) ? shareText(length, timeline.grace.effectiveSeconds * 1000) : '',
    ends: `from ${boundsText(start, timeline.zero)}, until ${boundsText(end, timeline.zero)}`,
  }));
  const widest = (valueOf: (row: (typeof rows)[number]) => string): number =>
    Math.max(0, ...rows.map((row) => valueOf(row).length));
  const widths = {
    name: widest((row) => row.name),
    subject: widest((row) => row.subject),
    length: widest((row) => row.length),
  };
  return rows.flatMap(({ name, subject, length, share, ends }) =>
    flow(
      pen,
      [
        plain(`  ${name.padEnd(widths.name)}  `),
        piece('accent', padTo(subject, widths.subject)),
        plain(`  ${length.padStart(widths.length)}  ${share.padStart(4)}  `),
        dim(ends),
      ],
      { width, hang: widths.name + 4 },
    ),
  );
}

/** The names of the phases for people. */
export const phaseTitles: Record<Report['timeline']['phases'][number]['name'], string> = {
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
export const gracePhases: ReadonlySet<string> = new Set(['prestop', 'sidecar-wait', 'drain']);

function findingBlock(pen: Pen, { verdict, timeline }: Report, width: number): string[] {
  return verdict.findings.flatMap((finding) => {
    const evidence = evidenceText(finding, timeline.notes, timeline.zero);
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

function evidenceText({ evidence }: Finding, notes: Note | undefined, zero: number): string | undefined {
  const cited: Note[] = [];
  for (let note = notes; note; note = note.earlier) if (evidence.includes(note.seq)) cited.unshift(note);
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
  const layout = { width, hang: 4 };
  return [
    ...(gaps.length > 0 ? flow(pen, [piece('warning', `  no access: ${gaps.join(', ')}`)], layout) : []),
    ...(assumed.length > 0 ? flow(pen, [dim(`  assumptions: at most ${assumed.join(', ')}`)], layout) : []),
  ];
}
