/** What the picture and its style sheet must agree on. */
import { phaseNames } from '../../model/report.ts';

/** Each has a colour of its own: the phases, and states that are none. */
export const looks = [...phaseNames, 'routed', 'listed', 'starting', 'ready'] as const;
export type Look = (typeof looks)[number];

/** What a colour is called where its own name says too little. */
const words: Partial<Record<Look, string>> = { listed: 'unrouted, still listed' };

export const wordOf = (look: Look): string => words[look] ?? look;

/** A label on a bar of at least so many percents of a lane shows once the lanes are so many pixels wide. */
export const rooms = [
  { percents: 50, pixels: 290 },
  { percents: 25, pixels: 570 },
  { percents: 12, pixels: 1180 },
  { percents: 6, pixels: 2350 },
  { percents: 3, pixels: 4700 },
] as const;
