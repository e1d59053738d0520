/** Logs whose connection broke for good while the pod was still there: what was written after that went unheard. */
import type { Fact, Trace } from '../model/trace.ts';

export interface BrokenLog {
  readonly container: string;
  /** The last that was heard. */
  readonly ended: Fact<{ readonly clean: boolean }>;
}

export const brokenLogs = ({ containers, gone }: Trace): BrokenLog[] =>
  [...containers].flatMap(([container, { log }]) => {
    const { ended } = log;
    return ended && !ended.value.clean && ended.at < (gone?.at ?? Infinity) ? [{ container, ended }] : [];
  });
