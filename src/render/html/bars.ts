/** What is drawn on each lane: stretches with uncertain ends, and moments. Values only; timeline.ts draws them. */
import type { ExitReport, Instant, Mark, Range } from '../../trace/report.ts';
import { formatSeconds, weaker } from '../duration.ts';
import { graceShare } from '../grace-share.ts';
import type { Lane } from '../lanes.ts';
import { formatBounds, formatOffset, inTime, offsetRange } from '../offsets.ts';
import type { Look } from './looks.ts';
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
  readonly within: Range;
  readonly basis: Instant['basis'];
}

/** The stretches of a lane, those that lie in the background first. */
export function barsOf(report: ExitReport, scale: Scale, lane: Lane): Bar[] {
  return [...standing(report, scale, lane), ...lane.phases.flatMap((phase) => phaseBar(scale, phase))];
}

export function pointsOf({ zero }: Scale, { marks }: Lane): Point[] {
  return inTime(marks).flatMap(({ name, subject, at, note }) => {
    const within = offsetRange(zero, at);
    if (within === undefined) return [];
    const title = `${name}${subject === undefined ? '' : ` · ${subject}`} ${formatOffset(zero, at)}`;
    const lines = [...(note === undefined ? [] : [note]), certainty(zero, at)];
    return [{ name, within, basis: at.basis, title, lines, evidence: at.evidence }];
  });
}

function phaseBar({ zero }: Scale, phase: Lane['phases'][number]): Bar[] {
  const { name, subject, start, end, seconds } = phase;
  const [from, to] = [offsetRange(zero, start), offsetRange(zero, end)];
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
      lines: [`From: ${certainty(zero, start)}`, `To: ${certainty(zero, end)}`],
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
      ...stretch('unrouted, still listed', unrouted, removed ?? (unrouted && edge(scale.to)), endpoint?.removedAt),
    ];
  }
  if (kind !== 'replacement') return [];
  const ready = report.replacement?.readyAt;
  return [
    ...stretch('starting', known(report.replacement?.createdAt), known(ready) ?? edge(scale.to), ready),
    ...stretch('ready', known(ready), known(ready) && edge(scale.to), ready),
  ];
}

const stateOf = { routed: 'routed', 'unrouted, still listed': 'listed', starting: 'starting', ready: 'ready' } as const;

function stretch(
  label: keyof typeof stateOf,
  start: Range | undefined,
  end: Range | undefined,
  proof: Instant | undefined,
): Bar[] {
  if (start === undefined || end === undefined) return [];
  return [{ look: stateOf[label], label, start, end, title: label, lines: [], evidence: proof?.evidence ?? [] }];
}

const basisText: Record<Instant['basis'], string> = {
  observed: 'observed',
  inferred: 'inferred, nothing tells it directly',
};

const certainty = (zero: number, instant: Instant): string =>
  `${formatOffset(zero, instant)}, within ${formatBounds(zero, instant)} (${basisText[instant.basis]})`;
