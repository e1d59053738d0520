/**
 * The live region as lines: a ruler, a lane for each container, Service, the object and the replacement, and what is
 * waited for. A pure function of the trace, the time and the window; never taller than `rows` - 1, so that it can always
 * be painted over, and never as wide as `columns`: a terminal that waits in its last column to wrap would lose the
 * character there to an erasure.
 */
import type { Exit, Conclusions } from '../infer/conclusions.ts';
import { conclusionsOf } from '../infer/conclusions.ts';
import type { Trace } from '../model/trace.ts';
import type { Scale } from './bar.ts';
import { barPieces, cellAt } from './bar.ts';
import { killAt, leastWait } from './container-state.ts';
import { viewOf } from './history.ts';
import type { LaneView } from './lane-views.ts';
import { lanesAt } from './lane-views.ts';
import type { Zero } from './moments.ts';
import { signed, zeroOfMarks } from './moments.ts';
import type { Pen, Style } from './palette.ts';
import { penFor } from './palette.ts';
import type { Piece } from './prose.ts';
import { clip, dim, padTo, piece, plain, shorten, textWidth, widthOf } from './prose.ts';
import type { RulerMarks } from './ruler.ts';
import { rulerPieces, scaleLength } from './ruler.ts';
import { forTerminal } from './safe-text.ts';
import { waitingWords } from './waiting-words.ts';

/** `now`: ms on the client's clock. Empty while nothing is known of the pod. */
export function frame(trace: Trace, now: number, columns: number, rows: number, style: Style): string[] {
  const timeline = conclusionsOf(trace);
  const room = Math.max(0, rows - 1);
  if (!timeline || room === 0) return [];
  const pen = penFor(style);
  const width = columns - 1;
  const status = statusLine(pen, trace, timeline, now, width);
  if (!timeline.exit) return [status];
  const picture = pictureLines(pen, { trace, timeline, exit: timeline.exit, now }, width, room - 1);
  // A blank line parts it from the history, where that costs no lane.
  return [...(picture.length + 2 <= room / 2 ? [''] : []), ...picture, status];
}

/** The lanes as they are at the end: all of them, without a word about waiting. */
export function finalPicture(trace: Trace, columns: number, style: Style): string[] {
  const timeline = conclusionsOf(trace);
  if (!timeline?.exit) return [];
  const scene = { trace, timeline, exit: timeline.exit, now: trace.now + 1 };
  return pictureLines(penFor(style), scene, columns, Infinity);
}

interface Scene {
  readonly trace: Trace;
  readonly timeline: Conclusions;
  readonly exit: Exit;
  readonly now: number;
}

/** The ruler and as many lanes as there is room for; those that matter least now give way. */
function pictureLines(pen: Pen, { trace, timeline, exit, now }: Scene, columns: number, room: number): string[] {
  const zero = zeroOfMarks(timeline.marks.map(viewOf));
  if (!zero || room < 1) return [];
  const lanes = lanesAt(trace, exit, zero, now);
  const widths = widthsFor(columns, lanes);
  const marks = marksOf(exit, now);
  const scale = scaleOf(exit, zero, marks, now, widths.bar);
  const rule = marks.kill === undefined ? undefined : cellAt(scale, marks.kill);
  const shown = fitting(lanes, widths.bar > 0 ? room - 1 : room);
  const ruler = [plain(' '.repeat(widths.name + 3)), ...rulerPieces(pen, scale, marks)];
  return [
    ...(widths.bar > 0 && room > 1 ? [clip(pen, ruler, columns)] : []),
    ...shown.map((lane) =>
      lane === 'more'
        ? clip(pen, [dim(`  … ${lanes.length - shown.length + 1} more lanes`)], columns)
        : clip(pen, laneLine(pen, lane, widths, scale, rule), columns),
    ),
  ];
}

interface Widths {
  readonly name: number;
  readonly bar: number;
  readonly words: number;
}

const widestName = 20;
const widestBar = 120;
const widestWords = 44;

/** Names a fifth, words less than half, the bar what is left; below 36 columns words are worth more than a bar. */
function widthsFor(columns: number, lanes: readonly LaneView[]): Widths {
  const longest = Math.max(...lanes.map(({ name }) => textWidth(forTerminal(name))));
  const name = Math.min(longest, widestName, Math.max(6, Math.floor(columns / 5)));
  const rest = columns - name - 3;
  if (columns < 36) return { name, bar: 0, words: Math.max(0, rest) };
  // Not by what the words are just now: the bars would jump with every change of them.
  const words = Math.min(widestWords, Math.max(15, Math.floor(rest * 0.46)));
  return { name, bar: Math.min(widestBar, rest - words - 2), words };
}

/** The kill that comes next; after the last exit the last one. */
function marksOf(exit: Exit, now: number): RulerMarks {
  const kills = exit.containers.flatMap((one) => {
    const at = one.ran ? killAt(one, exit, now) : undefined;
    return at ? [{ at: (at.lo + at.hi) / 2, over: one.exit !== undefined }] : [];
  });
  const next = kills.filter(({ over }) => !over).sort((a, b) => a.at - b.at)[0];
  const accepted = exit.deletion.accepted.client.hi;
  const ran = exit.containers.some((one) => one.ran);
  return {
    deadline: ran && Number.isFinite(accepted) ? accepted + exit.deletion.grace * 1000 : undefined,
    kill: (next ?? kills.sort((a, b) => b.at - a.at)[0])?.at,
    spared: next === undefined && !exit.containers.some((one) => one.kill !== undefined),
  };
}

function scaleOf(exit: Exit, zero: Zero, { kill }: RulerMarks, now: number, cells: number): Scale {
  const grace = exit.containers.some((one) => one.ran) ? exit.deletion.grace * 1000 : 0;
  const length = scaleLength(now - zero.at, grace, kill === undefined ? undefined : kill - zero.at);
  return { zero: zero.at, length, cells: Math.max(cells, 1), now };
}

function laneLine(pen: Pen, lane: LaneView, widths: Widths, scale: Scale, rule: number | undefined): Piece[] {
  const name = padTo(shorten(pen, forTerminal(lane.name), widths.name), widths.name);
  const words = lane.words.map((one) => forTerminal(one));
  return [
    plain('  '),
    piece('accent', name),
    plain(' '),
    ...(widths.bar > 0 ? [...barPieces(pen, lane, scale, rule), plain('  ')] : []),
    piece(lane.ink, words.find((one) => textWidth(pen.letters(one)) <= widths.words) ?? words.at(-1) ?? ''),
  ];
}

/** In their order; where some are left out, a line says so. */
function fitting(lanes: readonly LaneView[], room: number): (LaneView | 'more')[] {
  if (lanes.length <= room) return [...lanes];
  const kept = new Set([...lanes].sort((a, b) => a.rank - b.rank).slice(0, Math.max(0, room - 1)));
  return room < 1 ? [] : [...lanes.filter((lane) => kept.has(lane)), 'more'];
}

/**
 * `+3 s  app draining, kill in 7 s  (grace 10 s)`, the last only where there is room for it. A line that has to be cut
 * leads with the countdown: `+3 s  kill in 7 s · app draini…`.
 */
function statusLine(pen: Pen, trace: Trace, timeline: Conclusions, now: number, columns: number): string {
  const zero = zeroOfMarks(timeline.marks.map(viewOf));
  // Rounded down, as what is left is rounded up: together they are the grace.
  const elapsed = zero ? `${signed(Math.floor(Math.max(0, now - zero.at) / 1000), 0)} s  ` : '';
  const { text, kill } = waitingWords(trace, timeline, now);
  const line = (words: string): Piece[] => [
    plain('  '),
    piece('strong', elapsed),
    plain(pen.letters(forTerminal(words))),
  ];
  const whole = line(kill === undefined ? text : `${text}, ${kill}`);
  const grace = timeline.exit ? [dim(`  (${graceText(timeline.exit)})`)] : [];
  const fits = (pieces: readonly Piece[]): boolean => widthOf(pieces) <= columns;
  const cut = kill === undefined ? whole : line(`${kill} · ${text}`);
  return clip(pen, [[...whole, ...grace], whole].find(fits) ?? cut, columns);
}

/** `grace 10 s`, `grace 0 s, the kubelet waits 2 s`: the kill stands there. */
function graceText({ deletion: { grace }, containers }: Exit): string {
  const least = containers.some(({ ran }) => ran) ? leastWait(grace) : undefined;
  return `grace ${grace} s${least === undefined ? '' : `, the kubelet waits ${least} s`}`;
}
