/** The main loop: source, recorder, traces, audience. Live runs, replays, demos and tests differ in their source. */
import { emptyTrace, type Trace } from '../model/trace.ts';
import { observe } from '../model/observe.ts';
import type { Deliver, Observation, RawObservation } from '../model/observation.ts';
import type { View } from '../output/view.ts';
import { firstTrace, type Traces } from './traces/traces.ts';

/** A recording, or a live run that delivers what it observes and resolves at its end. */
export type Source = AsyncIterable<RawObservation> | Iterable<RawObservation> | ((deliver: Deliver) => Promise<void>);

export interface RunOptions {
  source: Source;
  /** Keep the text of log lines; the recorder drops it unless `--logs` was given. */
  logText: boolean;
  traces: Traces;
  /** Receives all observations of a turn, even if showing them failed. */
  record?: (observations: readonly Observation[]) => void;
  audience?: Partial<Pick<View, 'step'>> & {
    /** Receives, before the steps, all that arrived together, also what concerns no trace. */
    take?(observations: readonly Observation[]): void;
    /** The trace has ended, and its last step was shown. */
    ended?(key: string): void;
  };
  /** Calls back when all input that has arrived is read. Absent in a replay: the log marks what arrived together. */
  afterInput?: (callback: () => void) => void;
  /** Lets the source decide by the newest trace what to do next: what to watch, when to end. */
  onTrace?: (trace: Trace, key: string) => void;
  /** Whether `onTrace` needs the trace after this observation; absent: always. */
  awaits?: (key: string, observation: Observation) => boolean;
}

/** Returns the first trace when the source ends. Rethrows errors of the source. */
export async function run(options: RunOptions): Promise<Trace> {
  const { source, logText, traces, audience, onTrace, awaits } = options;
  const turn = createTurn(options);
  let seq = 0;
  const take = (rawObservation: RawObservation): void => {
    seq += 1;
    const together = turn.joins(rawObservation);
    const observation = observe(rawObservation, seq, { logText, together });
    turn.record(observation);
    for (const key of traces.add(observation)) {
      // A change may concern hundreds of traces: only those are read that somebody needs.
      const trace = (audience?.step ?? awaits?.(key, observation) ?? onTrace) && traces.get(key);
      if (trace && audience?.step) turn.show(trace, observation, key);
      if (observation.kind === 'timer') turn.showNow();
      if (observation.kind === 'timer' && observation.pod === key) audience?.ended?.(key);
      if (trace) onTrace?.(trace, key);
    }
  };
  try {
    if (typeof source === 'function') await source(take);
    else for await (const rawObservation of source) take(rawObservation);
  } finally {
    turn.end();
  }
  turn.check();
  return firstTrace(traces) ?? emptyTrace;
}

export type Step = Parameters<View['step']>;

/**
 * Collects what arrives in one turn of the event loop. A deletion makes several streams report within a few
 * milliseconds, and each step costs a conclusion: everything that has arrived is read, then recorded, then shown. The
 * log marks what came together, so that a replay shows the same.
 */
function createTurn({ audience, record, afterInput }: Pick<RunOptions, 'audience' | 'record' | 'afterInput'>) {
  let isOpen = false;
  let steps: Step[] = [];
  let observations: Observation[] = [];
  let failed: { error: unknown } | undefined;
  /** Records before it shows: a line that was shown is in the recording, even if this process is killed right after. */
  const writeAndShow = (): void => {
    const [written, shown] = [observations, steps];
    [observations, steps] = [[], []];
    if (written.length > 0) record?.(written);
    if (written.length > 0) audience?.take?.(written);
    for (const step of newestOf(shown)) audience?.step?.(...step);
  };
  const end = (): void => {
    isOpen = false;
    writeAndShow();
  };
  const afterReading = (): void => {
    try {
      end();
    } catch (error) {
      failed = { error };
    }
  };
  /** Rethrows the error of a step. */
  const check = (): void => {
    if (failed) throw failed.error;
  };
  return {
    end,
    check,
    /** Whether the observation belongs to the same turn as the previous one. Rethrows the error of a step. */
    joins({ together = false }: RawObservation): boolean {
      check();
      const joins = afterInput ? isOpen : together;
      if (!joins) end();
      if (!isOpen) afterInput?.(afterReading);
      isOpen = true;
      return joins;
    },
    record: (observation: Observation): void => void observations.push(observation),
    show: (...step: Step): void => void steps.push(step),
    /** The end of a trace is shown at once. */
    showNow: writeAndShow,
  };
}

/** A newer trace replaces older ones; log lines are kept, and a `Date` replaces only another `Date`. */
export function newestOf(steps: readonly Step[]): Step[] {
  const [seen, dated] = [new Set<string | undefined>(), new Set<string | undefined>()];
  const isNewest = ([, { kind }, key]: Step): boolean => {
    if (kind === 'line') return true;
    const isOld = seen.has(key) || (kind === 'dated' && dated.has(key));
    (kind === 'dated' ? dated : seen).add(key);
    return !isOld;
  };
  return steps.toReversed().filter(isNewest).reverse();
}
