/**
 * A Simple Temporal Network (Dechter, Meiri, Pearl 1991). It holds moments ("the container exited") and constraints
 * between two moments ("it exited 0 to 2000 ms after SIGKILL"). It computes the earliest and the latest time of each
 * moment, counted from an origin: a moment that serves as time 0. Pure; times and lengths in ms.
 *
 * How: "`to` comes at most 5 ms after `from`" is an edge of length 5 from `from` to `to`; "at least 2 ms after" is an
 * edge of length -2 back. The latest time of a moment is then the length of the shortest path from the origin to it, and
 * the earliest time is the negated length of the shortest path back. A cycle of negative length is a contradiction.
 *
 * Laws:
 * 1. A constraint that contradicts earlier ones is rejected, changes nothing, and is kept in `rejected`. So rules add
 *    what is certain first and what is likely later: a contradiction then rejects the least certain constraint.
 * 2. A new constraint can narrow bounds, but never widen them.
 * 3. The evidence of a bound comes from the constraints on its shortest path, from the moment to the first clock. Those
 *    beyond that clock only tie clocks to each other, and prove nothing about this moment.
 */
import type { Span } from '../model/span.ts';

/** `to` comes at least `min` and at most `max` ms after `from`. Negative: before it. Absent: no limit. */
export interface Constraint {
  readonly from: string;
  readonly to: string;
  readonly min?: number;
  readonly max?: number;
  /** The rule with its section of SIGNALS.md, or the name of an assumption. */
  readonly because: string;
  /** The observations (`seq`) that prove it. */
  readonly evidence?: readonly number[];
}

interface Edge {
  readonly from: number;
  readonly to: number;
  readonly length: number;
  readonly source: Constraint;
}

/** The shortest path between two moments: over `edge`, with the shortest paths to and from it, as they were then. */
interface Path {
  readonly length: number;
  readonly before: Path | undefined;
  readonly edge: Edge;
  readonly after: Path | undefined;
}

/** Sums of fractions that should be equal may differ by this much. */
const roundingMs = 1e-6;

export class Network {
  readonly #ids = new Map<string, number>();
  /** By the ids of their two ends. */
  #paths: (Path | undefined)[][] = [];
  readonly #clocks: ReadonlySet<number>;
  readonly rejected: Constraint[] = [];

  /** `clocks`: the moments where evidence ends (law 3). */
  constructor(clocks: readonly string[]) {
    this.#clocks = new Set(clocks.map((name) => this.#idOf(name)));
  }

  has(moment: string): boolean {
    return this.#ids.has(moment);
  }

  /** Adds all of the constraints. Returns false, and adds none, if they contradict what is known. */
  add(...constraints: readonly Constraint[]): boolean {
    const isAdded = this.withRollback(
      () => constraints.every((constraint) => this.#edgesOf(constraint).every((edge) => this.#addEdge(edge))),
      (isConsistent) => isConsistent,
    );
    if (!isAdded) this.rejected.push(...constraints);
    return isAdded;
  }

  /** Removes what `trial` has added, unless its result `isKept`. */
  withRollback<T>(trial: () => T, isKept: (result: T) => boolean): T {
    const before = this.#paths.map((row) => [...row]);
    const result = trial();
    if (!isKept(result)) this.#paths = before;
    return result;
  }

  /** The earliest and the latest time of a moment, counted from an origin. */
  boundsOf(moment: string, origin: string): Span {
    return { lo: this.minBetween(origin, moment), hi: -this.minBetween(moment, origin) };
  }

  /** The shortest time (ms) that can have passed from one moment to another. */
  minBetween(from: string, to: string): number {
    return -this.#lengthBetween(this.#idOf(to), this.#idOf(from));
  }

  /** The observations that prove both bounds of a moment, counted from an origin. */
  evidenceOf(moment: string, origin: string): number[] {
    const [to, from] = [this.#idOf(moment), this.#idOf(origin)];
    const cited = new Set<number>();
    const citeUntilClock = (edges: readonly Edge[], end: 'from' | 'to'): void => {
      for (const edge of edges) {
        if (this.#clocks.has(edge[end])) return;
        for (const seq of edge.source.evidence ?? []) cited.add(seq);
      }
    };
    citeUntilClock(edgesOf(this.#paths[from]?.[to]).reverse(), 'to');
    citeUntilClock(edgesOf(this.#paths[to]?.[from]), 'from');
    return [...cited].sort((a, b) => a - b);
  }

  #idOf(moment: string): number {
    const id = this.#ids.get(moment) ?? this.#ids.size;
    this.#ids.set(moment, id);
    this.#paths[id] ??= [];
    return id;
  }

  #lengthBetween(from: number, to: number): number {
    return from === to ? 0 : (this.#paths[from]?.[to]?.length ?? Infinity);
  }

  #edgesOf(source: Constraint): Edge[] {
    const [from, to] = [this.#idOf(source.from), this.#idOf(source.to)];
    const { max = Infinity, min = -Infinity } = source;
    const both = [
      { from, to, length: max, source },
      { from: to, to: from, length: -min, source },
    ];
    return both.filter(({ length }) => Number.isFinite(length));
  }

  /** Shortens all paths for which this is a shortcut. Returns false if it closes a negative cycle. */
  #addEdge(edge: Edge): boolean {
    const { from, to } = edge;
    if (this.#lengthBetween(to, from) + edge.length < -roundingMs) return false;
    const paths = this.#paths[to] ?? [];
    for (const [start, row] of this.#paths.entries()) {
      const toEdge = this.#lengthBetween(start, from) + edge.length;
      if (!(toEdge < this.#lengthBetween(start, to) - roundingMs)) continue;
      const before = row[from];
      row[to] = { length: toEdge, before, edge, after: undefined };
      for (const [end, after] of paths.entries()) {
        const length = toEdge + (after?.length ?? Infinity);
        if (length < this.#lengthBetween(start, end) - roundingMs) row[end] = { length, before, edge, after };
      }
    }
    return true;
  }
}

const edgesOf = (path: Path | undefined): Edge[] =>
  path ? [...edgesOf(path.before), path.edge, ...edgesOf(path.after)] : [];
