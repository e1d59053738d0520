/** What is drawn on each lane: stretches with uncertain ends, and moments. Values only; timeline.ts draws them. */
import type { ExitReport, Instant, Mark, Range } from '../../model/report.ts';
import { weaker } from '../../verdict/figures.ts';
import { formatSeconds } from '../duration.ts';
import { graceShare } from '../grace-share.ts';
import type { Lane } from '../lanes.ts';
import { formatBounds, offsetRange } from '../offsets.ts';
import type { Look } from './looks.ts';
import { wordOf } from './looks.ts';
import type { Scale } from './scale.ts';

/** What is told of a thing when it is pointed at. */
export interface Told {
  readonly title: string;
  readonly lines: readonly string[];
  /** `seq`s of observations. */
  readonly evidence: readonly number[];
}

export interface Bar extends Told {
  /** Names the colour (style.ts). */
  readonly look: Look;
  readonly label: string;
  readonly start: Range;
  readonly end: Range;
}

export interface Point extends Told {
  readonly name: Mark['name'];
  /** Seconds: the one moment that stands for it. */
  readonly shown: number;
  readonly within: Range;
  readonly basis: Instant['basis'];
}

/** The stretches of a lane, those that lie in the background first. */
export function barsOf(report: ExitReport, scale: Scale, lane: Lane): Bar[] {
  return [...standing(report, scale, lane), ...lane.phases.flatMap((phase) => phaseBar(scale, phase))];
}

/** In the order of the report, in which the arrow keys walk over them. */
export function pointsOf(scale: Scale, { marks }: Lane): Point[] {
  return marks.flatMap(({ name, subject, at, note }) => {
    const within = offsetRange(scale.zero, at);
    if (within === undefined) return [];
    const title = `${name}${subject === undefined ? '' : ` · ${subject}`} ${scale.shown.offset(at, subject)}`;
    const lines = [...(note === undefined ? [] : [note]), certainty(scale, at, subject)];
    const shown = scale.shown.at(at, subject);
    return [{ name, shown, within, basis: at.basis, title, lines, evidence: at.evidence }];
  });
}

function phaseBar(scale: Scale, phase: Lane['phases'][number]): Bar[] {
  const { name, subject, start, end, seconds } = phase;
  const [from, to] = [offsetRange(scale.zero, start), offsetRange(scale.zero, end)];
  if (from === undefined || to === undefined) return [];
  const basis = weaker(start.basis, end.basis);
  const length = formatSeconds(seconds, basis);
  const share = graceShare(phase);
  return [
    {
      look: name,
      label: `${name} ${length}`,
      start: from,
      end: to,
      title: `${name}${subject === undefined ? '' : ` · ${subject}`}: ${length}${share === undefined ? '' : `, ${share} of the grace`}`,
      lines: [`From: ${certainty(scale, start, subject)}`, `To: ${certainty(scale, end, subject)}`],
      evidence: [...new Set([...start.evidence, ...end.evidence])],
    },
  ];
}

/** States that last between two moments and are no phases: routed, still listed, ready. */
function standing(report: ExitReport, scale: Scale, { kind, name }: Lane): Bar[] {
  const edge = (seconds: number): Range => ({ min: seconds, max: seconds });
  const known = (instant: Instant | undefined): Range | undefined => instant && offsetRange(scale.zero, instant);
  if (kind === 'endpoint') {
    const endpoint = report.endpoints.find(({ slice }) => slice === name);
    const [unrouted, removed] = [known(endpoint?.unroutedAt), known(endpoint?.removedAt)];
    return [
      ...stretch('routed', edge(scale.from), unrouted ?? removed, endpoint?.unroutedAt ?? endpoint?.removedAt),
      ...stretch('listed', unrouted, removed ?? (unrouted && edge(scale.to)), endpoint?.removedAt),
    ];
  }
  if (kind !== 'replacement') return [];
  const ready = report.replacement?.readyAt;
  return [
    ...stretch('starting', known(report.replacement?.createdAt), known(ready) ?? edge(scale.to), ready),
    ...stretch('ready', known(ready), known(ready) && edge(scale.to), ready),
  ];
}

function stretch(look: Look, start: Range | undefined, end: Range | undefined, proof: Instant | undefined): Bar[] {
  if (start === undefined || end === undefined) return [];
  const label = wordOf(look);
  return [{ look, label, start, end, title: label, lines: [], evidence: proof?.evidence ?? [] }];
}

const basisText: Record<Instant['basis'], string> = {
  observed: 'observed',
  inferred: 'inferred, nothing tells it directly',
};

const certainty = ({ zero, shown }: Scale, instant: Instant, subject: string | undefined): string =>
  `${shown.offset(instant, subject)}, within ${formatBounds(zero, instant)} (${basisText[instant.basis]})`;

/** Solid in its middle; else its ends overlap, and nothing says how long it was. */
export const isSure = ({ start, end }: Bar): boolean => start.max <= end.min;
