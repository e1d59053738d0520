/** `--wait-replacement` that came to nothing: the pod is gone, and --timeout was over before another one was ready. Pure. */
import { timelineOf } from '../trace/timeline.ts';
import type { Trace } from '../trace/trace.ts';
import { endingOf } from './ending.ts';

/** Exit code where what was waited for had not come by --timeout. */
export const notReplaced = 3;

/** One sentence; undefined where it was not asked for, or came. */
export function unreplaced(trace: Trace): string | undefined {
  const { began, gone, timers } = trace;
  const isLate = timers.some(({ value }) => value === 'timeout');
  if (!began?.value.waitReplacement || !gone || !isLate || endingOf(trace).kind !== 'open') return undefined;
  const { name } = timelineOf(trace)?.exit?.replacement ?? {};
  const fate = name === undefined ? 'no replacement of it was seen' : `its replacement "${name}" was not ready`;
  return `pod "${began.value.name}" is gone, but ${fate} by --timeout`;
}
