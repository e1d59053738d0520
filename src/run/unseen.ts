/** Pods of a target that are gone and whose end was not seen: said as soon as it is known. */
import { forTerminal } from '../render/safe-text.ts';
import type { Raw } from './watched.ts';
import { nameOf } from './watched.ts';

/** A line for stderr. `why` is a sentence's end. */
export const missedText = (pod: Raw, why: string): string =>
  `podexit: ${forTerminal(nameOf(pod))}: how it ended was not seen: ${why}\n`;
