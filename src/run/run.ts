/**
 * The one loop: source → recorder → traces → audience. Live runs, replays, the demo and tests all go through here and
 * differ only in their source.
 */
import { emptyTrace, type Trace } from '../model/trace.ts';
import { observe } from '../model/observe.ts';
import type { Deliver, Observation, RawObservation } from '../model/observation.ts';
import { createTraces, onePod, type Traces } from './traces.ts';
import type { Report } from '../verdict/report.ts';

/** Sees each step: a renderer that streams. It only reads. */
export interface Audience {
  /** `key`: of the trace (traces.ts); in a run about one pod it has no meaning. */
  step(trace: Trace, observation: Observation, key?: string): void;
}

/** A recording, or a live run that delivers what it observes and resolves when it is over. */
export type Source = AsyncIterable<RawObservation> | Iterable<RawObservation> | ((deliver: Deliver) => Promise<void>);

export interface RunOptions {
  source: Source;
  /** Keep the text of log lines: a recorder leaves it out unless `--logs` was given. */
  logText: boolean;
  /** Which traces are kept; absent: as the log's beginning says. */
  traces?: Traces;
  /** Takes all observations of a turn, also where they could not be shown. */
  record?: (observations: readonly Observation[]) => void;
  audience?: Audience;
  /** Calls back when what has arrived is read. Absent in a replay, where the log says what arrived together. */
  afterInput?: (callback: () => void) => void;
  /** The source looks at the traces to decide what to do next (what to watch, when to end). */
  onTrace?: (trace: Trace, key: string) => void;
}

/** The trace of the one pod, or of the first, when the source ends: `traces` has them all. Errors of the source pass through. */
export async function run(options: RunOptions): Promise<Trace> {
  const { source, logText, traces = createTraces(), onTrace } = options;
  const turn = createTurn(options);
  let seq = 0;
  const take = (rawObservation: RawObservation): void => {
    seq += 1;
    const together = turn.joins(rawObservation);
    const observation = observe(rawObservation, seq, { logText, together });
    turn.record(observation);
    for (const key of traces.add(observation)) {
      const trace = traces.get(key);
      if (!trace) continue;
      turn.show(trace, observation, key);
      onTrace?.(trace, key);
    }
  };
  try {
    if (typeof source === 'function') await source(take);
    else for await (const rawObservation of source) take(rawObservation);
  } finally {
    turn.end();
  }
  turn.check();
  return traces.get(traces.keys()[0] ?? onePod) ?? emptyTrace;
}

export type Step = Parameters<Audience['step']>;

/**
 * What arrives in one turn of the event loop. A deletion makes several streams report within a few milliseconds, and each step
 * costs a conclusion: all that has arrived is read first, then written down, then shown. The log says what came together, so that
 * a replay shows the same.
 */
function createTurn({ audience, record, afterInput }: Pick<RunOptions, 'audience' | 'record' | 'afterInput'>) {
  let isOpen = false;
  let steps: Step[] = [];
  let observations: Observation[] = [];
  let failed: { error: unknown } | undefined;
  /** Writes before it shows: a line that was seen is in the recording, also when this process is killed next. */
  const writeAndShow = (): void => {
    const [written, shown] = [observations, steps];
    [observations, steps] = [[], []];
    if (written.length > 0) record?.(written);
    for (const step of newestOf(shown)) audience?.step(...step);
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
  /** Throws what a step threw. */
  const check = (): void => {
    if (failed) throw failed.error;
  };
  return {
    end,
    check,
    /** Whether the observation comes in the turn of the one before it. Throws what a step threw since. */
    joins({ together = false }: RawObservation): boolean {
      check();
      const joins = afterInput ? isOpen : together;
      if (!joins) end();
      if (!isOpen) afterInput?.(afterReading);
      isOpen = true;
      return joins;
    },
    record: (observation: Observation): void => void (record && observations.push(observation)),
    show(...step: Step): void {
      steps.push(step);
      // A trace that ends is reported at once.
      if (step[1].kind === 'timer') writeAndShow();
    },
  };
}

/** A trace holds all that was observed before it; only a log line is shown for itself, and a `Date` is no news. */
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

export interface LookOptions {
  color: 'auto' | 'always' | 'never';
  ascii: boolean;
  timestamps: 'relative' | 'local' | 'utc';
  /** Show the containers' log lines. */
  logs: boolean;
  /** Evidence, phases, assumptions and gaps with the card: `-v`. */
  verbose?: boolean;
  /** The connection flags behind a command that is advised, each with a blank before it (kube/connect-options.ts). */
  reach?: string;
}

export interface Stage extends Audience {
  /** The final report. */
  end(trace: Trace, report: Report): Promise<void>;
  /** A message for the person, where it must not tear the picture; false: it goes to stderr as it is. */
  say(text: string): boolean;
  /** Gives the terminal back, whatever happened. */
  close(): void;
}
