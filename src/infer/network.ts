/**
 * A Simple Temporal Network (Dechter, Meiri, Pearl 1991): moments, and between two of them the least and the most time
 * that can lie between. What all rows together allow is found by shortest paths: the latest of a moment is its distance
 * from an origin, the earliest the negated distance back to it. Pure; times and lengths in ms.
 *
 * Laws:
 * 1. A row that contradicts what was stated before is not taken, and is kept among `refused`. So rows are stated from
 *    the strongest to the weakest: the one that closes a contradiction is then the weakest of it.
 * 2. Bounds only narrow with each row.
 * 3. The evidence of a bound is that of the rows on its shortest path, as far as a clock that shows it, and nothing else.
 */
import type { Span } from '../model/span.ts';

/** `to` follows `from` by at least `min` and at most `max` ms; both may be negative or absent. */
export interface Row {
  readonly from: string;
  readonly to: string;
  readonly min?: number;
  readonly max?: number;
  /** The rule, with its section of SIGNALS.md, or the name of an assumption. */
  readonly because: string;
  /** Observations (`seq`) that it was read from. */
  readonly evidence?: readonly number[];
}

/** ms: what rounding of sums may make of equal numbers. */
const equal = 1e-6;

/** Distances from one origin, or to it, and the edge by which each was reached. */
interface Distances {
  /** From each moment to the origin instead. */
  readonly isBack: boolean;
  readonly at: number[];
  readonly by: number[];
}

export class Network {
  readonly #ids = new Map<string, number>();
  readonly #edges = { from: [] as number[], to: [] as number[], most: [] as number[], row: [] as Row[] };
  /** Edges that leave a moment, and that reach it. */
  readonly #out: number[][] = [];
  readonly #in: number[][] = [];
  /** One schedule that all rows allow, apart from a constant. */
  readonly #feasible: number[] = [];
  readonly #origins = new Map<string, readonly [from: Distances, back: Distances]>();
  readonly refused: Row[] = [];
  /** What distances were before, inside withRollback. */
  readonly #changes: { distances: Distances; moment: number; at: number; by: number }[] = [];
  #isTrial = false;
  readonly #clocks: ReadonlySet<number>;

  /**
   * Distances are kept for the `origins`; bounds can be asked for on each of them. `clocks`: what ties these to one another
   * is no evidence of any one moment.
   */
  constructor(origins: readonly string[], clocks: readonly string[]) {
    this.#clocks = new Set(clocks.map((name) => this.#idOf(name)));
    for (const name of origins) {
      const origin = this.#idOf(name);
      this.#origins.set(name, [this.#distances(origin, false), this.#distances(origin, true)]);
    }
  }

  has(moment: string): boolean {
    return this.#ids.has(moment);
  }

  /** False, and nothing changes, where the rows together contradict what is known. */
  state(...rows: readonly Row[]): boolean {
    const count = this.#edges.row.length;
    if (!rows.every((row) => this.#add(row))) {
      this.#removeSince(count);
      this.refused.push(...rows);
      return false;
    }
    for (let edge = count; edge < this.#edges.row.length; edge += 1)
      for (const origin of this.#origins.values()) for (const distances of origin) this.#narrow(distances, edge);
    return true;
  }

  /** Whether a row would contradict what is known; it is not taken. */
  allows(row: Row): boolean {
    const count = this.#edges.row.length;
    const allowed = this.#add(row);
    this.#removeSince(count);
    return allowed;
  }

  /** Takes back what is stated in `trial`, unless its result `isKept`. Trials are not nested. */
  withRollback<T>(trial: () => T, isKept: (result: T) => boolean): T {
    const count = this.#edges.row.length;
    this.#isTrial = true;
    const result = trial();
    this.#isTrial = false;
    if (!isKept(result)) {
      this.#removeSince(count);
      for (const { distances, moment, at, by } of this.#changes.reverse()) {
        distances.at[moment] = at;
        distances.by[moment] = by;
      }
    }
    this.#changes.length = 0;
    return result;
  }

  /** When a moment was, counted from an origin. */
  boundsOf(moment: string, origin: string): Span {
    const id = this.#ids.get(moment);
    const distances = this.#origins.get(origin);
    if (id === undefined || !distances) return { lo: -Infinity, hi: Infinity };
    return { lo: -(distances[1].at[id] ?? Infinity), hi: distances[0].at[id] ?? Infinity };
  }

  /** What proves the bounds of a moment on an origin. */
  evidenceOf(moment: string, origin: string): number[] {
    const id = this.#ids.get(moment);
    const distances = this.#origins.get(origin);
    if (id === undefined || !distances) return [];
    const cited = new Set<number>();
    for (const one of distances)
      for (const { evidence = [] } of this.#path(one, id)) for (const seq of evidence) cited.add(seq);
    return [...cited].sort((a, b) => a - b);
  }

  /** The least that can lie between one moment and another. */
  leastBetween(from: string, to: string): number {
    const [start, end] = [this.#ids.get(from), this.#ids.get(to)];
    if (start === undefined || end === undefined) return -Infinity;
    const back = this.#distances(start, true);
    this.#spread(back, [start]);
    return -(back.at[end] ?? Infinity);
  }

  #idOf(moment: string): number {
    const known = this.#ids.get(moment);
    if (known !== undefined) return known;
    const id = this.#ids.size;
    this.#ids.set(moment, id);
    this.#out.push([]);
    this.#in.push([]);
    this.#feasible.push(0);
    for (const origin of this.#origins.values())
      for (const { at, by } of origin) {
        at.push(Infinity);
        by.push(-1);
      }
    return id;
  }

  #distances(origin: number, isBack: boolean): Distances {
    const at = Array.from({ length: this.#ids.size }, () => Infinity);
    at[origin] = 0;
    return { isBack, at, by: at.map(() => -1) };
  }

  #add(row: Row): boolean {
    const [from, to] = [this.#idOf(row.from), this.#idOf(row.to)];
    const { max = Infinity, min = -Infinity } = row;
    return this.#addEdge(from, to, max, row) && this.#addEdge(to, from, -min, row);
  }

  #addEdge(from: number, to: number, most: number, row: Row): boolean {
    if (!Number.isFinite(most)) return true;
    const edge = this.#edges.row.length;
    this.#edges.from.push(from);
    this.#edges.to.push(to);
    this.#edges.most.push(most);
    this.#edges.row.push(row);
    this.#out[from]?.push(edge);
    this.#in[to]?.push(edge);
    return this.#makeRoom(edge);
  }

  #removeSince(count: number): void {
    const { from, to, most, row } = this.#edges;
    for (let edge = row.length - 1; edge >= count; edge -= 1) {
      this.#out[from[edge] as number]?.pop();
      this.#in[to[edge] as number]?.pop();
    }
    for (const list of [from, to, most, row]) list.length = count;
  }

  /**
   * Changes the one schedule so that it fits the new edge too. A change that comes back to where the edge begins would go
   * round for ever: a contradiction; then the schedule stays as it was.
   */
  #makeRoom(edge: number): boolean {
    const { from, to, most } = this.#edges;
    const time = this.#feasible;
    const start = from[edge] as number;
    const before: [moment: number, time: number][] = [];
    const waiting = [edge];
    for (let next = 0; next < waiting.length; next += 1) {
      const by = waiting[next] as number;
      const [source, target] = [from[by] as number, to[by] as number];
      const limit = (time[source] as number) + (most[by] as number);
      if ((time[target] as number) <= limit + equal) continue;
      if (target === start) {
        for (const [moment, old] of before.reverse()) time[moment] = old;
        return false;
      }
      before.push([target, time[target] as number]);
      time[target] = limit;
      for (const one of this.#out[target] as number[]) waiting.push(one);
    }
    return true;
  }

  /** Carries a new edge into distances that were right without it. */
  #narrow(distances: Distances, edge: number): void {
    if (this.#relax(distances, edge)) this.#spread(distances, [this.#farEnd(distances, edge)]);
  }

  #spread(distances: Distances, changed: number[]): void {
    const edges = distances.isBack ? this.#in : this.#out;
    for (let next = 0; next < changed.length; next += 1)
      for (const edge of edges[changed[next] as number] as number[])
        if (this.#relax(distances, edge)) changed.push(this.#farEnd(distances, edge));
  }

  #farEnd({ isBack }: Distances, edge: number): number {
    return (isBack ? this.#edges.from : this.#edges.to)[edge] as number;
  }

  #relax(distances: Distances, edge: number): boolean {
    const { at, by, isBack } = distances;
    const { from, to, most } = this.#edges;
    const near = (isBack ? to : from)[edge] as number;
    const far = this.#farEnd(distances, edge);
    const distance = (at[near] as number) + (most[edge] as number);
    if (!(distance < (at[far] as number) - equal)) return false;
    if (this.#isTrial) this.#changes.push({ distances, moment: far, at: at[far] as number, by: by[far] as number });
    at[far] = distance;
    by[far] = edge;
    return true;
  }

  /** The rows by which a distance was reached, as far as a clock. */
  #path({ by, isBack }: Distances, moment: number): Row[] {
    const rows: Row[] = [];
    for (let at = moment; !this.#clocks.has(at);) {
      const edge = by[at] as number;
      if (edge < 0 || rows.length > this.#edges.row.length) break;
      rows.push(this.#edges.row[edge] as Row);
      at = (isBack ? this.#edges.to : this.#edges.from)[edge] as number;
    }
    return rows;
  }
}
