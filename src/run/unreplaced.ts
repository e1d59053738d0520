/** `--wait-replacement` that came to nothing: the pod is gone, and no other one was ready by --timeout, or will ever be. Pure. */
import { conclusionsOf } from '../infer/conclude.ts';
import type { Trace } from '../model/trace.ts';
import { triggerText } from '../render/trigger-text.ts';
import { endingOf, isHopeless } from './ending.ts';

/** Exit code where what was waited for did not come. */
export const notReplaced = 3;

/** One sentence; undefined where it was not asked for, or came. */
export function unreplaced(trace: Trace): string | undefined {
  const { began, gone, timers } = trace;
  if (!began?.value.waitReplacement || !gone) return undefined;
  const { trigger, replacement } = conclusionsOf(trace)?.exit ?? {};
  const pod = `pod "${began.value.name}" is gone`;
  if (isHopeless(trace)) return `${pod}, and nothing will replace it: ${triggerText[trigger?.kind ?? 'unknown']}`;
  const isLate = timers.some(({ value }) => value === 'timeout');
  if (!isLate || endingOf(trace).kind !== 'open') return undefined;
  const fate = replacement ? `its replacement "${replacement.name}" was not ready` : 'no replacement of it was seen';
  return `${pod}, but ${fate} by --timeout`;
}
