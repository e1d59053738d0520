/** Logs whose connection broke for good while the pod was still there: what was written after that was not received. */
import type { Fact, Trace } from '../model/trace.ts';

export interface BrokenLog {
  readonly container: string;
  /** The last that was received. */
  readonly ended: Fact<{ readonly clean: boolean }>;
}

export const brokenLogs = ({ containers, gone }: Trace): BrokenLog[] =>
  [...containers].flatMap(([container, { log }]) => {
    const { ended } = log;
    return ended && !ended.value.clean && ended.at < (gone?.at ?? Infinity) ? [{ container, ended }] : [];
  });
