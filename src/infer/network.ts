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

/** Sums of fractions that should be equal may differ by this much. */
const roundingMs = 1e-6;

interface ShortestPaths {
  /** False: from the origin to each moment. True: from each moment back to the origin. */
  readonly isBack: boolean;
  readonly length: number[];
  /** The edge of the path next to the moment; -1 if there is none. */
  readonly edge: number[];
}

export class Network {
  readonly #ids = new Map<string, number>();
  readonly #edges = { from: [] as number[], to: [] as number[], length: [] as number[], source: [] as Constraint[] };
  /** By the id of a moment: the edges that start there, and those that end there. */
  readonly #out: number[][] = [];
  readonly #in: number[][] = [];
  /** One time for each moment such that all constraints hold. While such an example exists, nothing is contradictory. */
  readonly #example: number[] = [];
  readonly #origins = new Map<string, readonly [there: ShortestPaths, back: ShortestPaths]>();
  readonly rejected: Constraint[] = [];
  readonly #undo: { paths: ShortestPaths; moment: number; length: number; edge: number }[] = [];
  #isTrial = false;
  readonly #clocks: ReadonlySet<number>;

  /** `origins`: the moments that bounds can be counted from. `clocks`: the moments where evidence ends. */
  constructor(origins: readonly string[], clocks: readonly string[]) {
    this.#clocks = new Set(clocks.map((name) => this.#idOf(name)));
    for (const name of origins) {
      const origin = this.#idOf(name);
      this.#origins.set(name, [this.#pathsOf(origin, false), this.#pathsOf(origin, true)]);
    }
  }

  has(moment: string): boolean {
    return this.#ids.has(moment);
  }

  /** Adds all of the constraints. Returns false, and adds none, if they contradict what is known. */
  add(...constraints: readonly Constraint[]): boolean {
    const count = this.#edges.source.length;
    if (!constraints.every((constraint) => this.#tryAdd(constraint))) {
      this.#removeSince(count);
      this.rejected.push(...constraints);
      return false;
    }
    for (let edge = count; edge < this.#edges.source.length; edge += 1)
      for (const origin of this.#origins.values())
        for (const paths of origin) if (this.#shorten(paths, edge)) this.#spread(paths, [this.#farEnd(paths, edge)]);
    return true;
  }

  /** Removes what `trial` has added, unless its result `isKept`. Trials cannot be nested. */
  withRollback<T>(trial: () => T, isKept: (result: T) => boolean): T {
    const count = this.#edges.source.length;
    this.#isTrial = true;
    const result = trial();
    this.#isTrial = false;
    if (!isKept(result)) {
      this.#removeSince(count);
      for (const { paths, moment, length, edge } of this.#undo.reverse()) {
        paths.length[moment] = length;
        paths.edge[moment] = edge;
      }
    }
    this.#undo.length = 0;
    return result;
  }

  /** The earliest and the latest time of a moment, counted from an origin. */
  boundsOf(moment: string, origin: string): Span {
    const id = this.#ids.get(moment);
    const paths = this.#origins.get(origin);
    if (id === undefined || !paths) return { lo: -Infinity, hi: Infinity };
    const [there, back] = paths;
    return { lo: -(back.length[id] ?? Infinity), hi: there.length[id] ?? Infinity };
  }

  /** The observations that prove both bounds of a moment, counted from an origin. */
  evidenceOf(moment: string, origin: string): number[] {
    const id = this.#ids.get(moment);
    const cited = new Set<number>();
    if (id === undefined) return [];
    for (const paths of this.#origins.get(origin) ?? [])
      for (const { evidence = [] } of this.#constraintsOn(paths, id)) for (const seq of evidence) cited.add(seq);
    return [...cited].sort((a, b) => a - b);
  }

  /** The shortest time (ms) that can have passed from one moment to another. */
  minBetween(from: string, to: string): number {
    const [start, end] = [this.#ids.get(from), this.#ids.get(to)];
    if (start === undefined || end === undefined) return -Infinity;
    const back = this.#pathsOf(start, true);
    this.#spread(back, [start]);
    return -(back.length[end] ?? Infinity);
  }

  #idOf(moment: string): number {
    const existing = this.#ids.get(moment);
    if (existing !== undefined) return existing;
    const id = this.#ids.size;
    this.#ids.set(moment, id);
    this.#out.push([]);
    this.#in.push([]);
    this.#example.push(0);
    for (const origin of this.#origins.values())
      for (const { length, edge } of origin) {
        length.push(Infinity);
        edge.push(-1);
      }
    return id;
  }

  #pathsOf(origin: number, isBack: boolean): ShortestPaths {
    const length = Array.from({ length: this.#ids.size }, () => Infinity);
    length[origin] = 0;
    return { isBack, length, edge: length.map(() => -1) };
  }

  #tryAdd(constraint: Constraint): boolean {
    const [from, to] = [this.#idOf(constraint.from), this.#idOf(constraint.to)];
    const { max = Infinity, min = -Infinity } = constraint;
    return this.#addEdge(from, to, max, constraint) && this.#addEdge(to, from, -min, constraint);
  }

  #addEdge(from: number, to: number, length: number, source: Constraint): boolean {
    if (!Number.isFinite(length)) return true;
    const edge = this.#edges.source.length;
    this.#edges.from.push(from);
    this.#edges.to.push(to);
    this.#edges.length.push(length);
    this.#edges.source.push(source);
    this.#out[from]?.push(edge);
    this.#in[to]?.push(edge);
    return this.#fitExample(edge);
  }

  #removeSince(count: number): void {
    const { from, to, length, source } = this.#edges;
    for (let edge = source.length - 1; edge >= count; edge -= 1) {
      this.#out[from[edge] as number]?.pop();
      this.#in[to[edge] as number]?.pop();
    }
    for (const list of [from, to, length, source]) list.length = count;
  }

  /** Moves moments of the example earlier until the edge holds. False, and no change, if its own start would move. */
  #fitExample(newEdge: number): boolean {
    const { from, to, length } = this.#edges;
    const time = this.#example;
    const start = from[newEdge] as number;
    const before: [moment: number, time: number][] = [];
    const toCheck = [newEdge];
    for (let next = 0; next < toCheck.length; next += 1) {
      const edge = toCheck[next] as number;
      const [source, target] = [from[edge] as number, to[edge] as number];
      const limit = (time[source] as number) + (length[edge] as number);
      if ((time[target] as number) <= limit + roundingMs) continue;
      if (target === start) {
        for (const [moment, old] of before.reverse()) time[moment] = old;
        return false;
      }
      before.push([target, time[target] as number]);
      time[target] = limit;
      for (const affected of this.#out[target] as number[]) toCheck.push(affected);
    }
    return true;
  }

  /** Updates the paths that lead on from the moments whose own path became shorter. */
  #spread(paths: ShortestPaths, changed: number[]): void {
    const edges = paths.isBack ? this.#in : this.#out;
    for (let next = 0; next < changed.length; next += 1)
      for (const edge of edges[changed[next] as number] as number[])
        if (this.#shorten(paths, edge)) changed.push(this.#farEnd(paths, edge));
  }

  /** The end of an edge that is farther from the origin. */
  #farEnd({ isBack }: ShortestPaths, edge: number): number {
    return (isBack ? this.#edges.from : this.#edges.to)[edge] as number;
  }

  /** Whether the path to the far end of an edge becomes shorter by using that edge. */
  #shorten(paths: ShortestPaths, edge: number): boolean {
    const near = (paths.isBack ? this.#edges.to : this.#edges.from)[edge] as number;
    const moment = this.#farEnd(paths, edge);
    const before = paths.length[moment] as number;
    const length = (paths.length[near] as number) + (this.#edges.length[edge] as number);
    if (!(length < before - roundingMs)) return false;
    if (this.#isTrial) this.#undo.push({ paths, moment, length: before, edge: paths.edge[moment] as number });
    paths.length[moment] = length;
    paths.edge[moment] = edge;
    return true;
  }

  /** The constraints on the shortest path between a moment and the origin, from the moment to the first clock. */
  #constraintsOn({ edge: edges, isBack }: ShortestPaths, moment: number): Constraint[] {
    const constraints: Constraint[] = [];
    for (let at = moment; !this.#clocks.has(at);) {
      const edge = edges[at] as number;
      if (edge < 0 || constraints.length > this.#edges.source.length) break;
      constraints.push(this.#edges.source[edge] as Constraint);
      at = (isBack ? this.#edges.to : this.#edges.from)[edge] as number;
    }
    return constraints;
  }
}
