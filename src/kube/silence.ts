/** How long the silence of an open stream is believed, and when it is asked about: more and more seldom while nobody answers. */
import { askAgain, pick } from './decide.ts';
import type { Health } from './health.ts';
import type { Surroundings } from './surroundings.ts';

export interface Silence {
  /** ms to wait for a line before it is asked about. */
  patience(isDoubted: boolean): number;
  /** The server, or our own patience, wants no question yet. */
  isTooEarly(): boolean;
  /** A line came: nothing before it can be missing. */
  broken(): void;
  /** The server says how it is. */
  answered(): void;
  /** It does not; `since` (client ms): what came later may be missing. */
  unanswered(since: number, retryAfterMs: number | undefined): void;
}

/** ms without a line before somebody asks. */
const quiet = {
  /** An open stream may be silent for minutes; now and then it is worth asking. */
  whenUndoubted: 10_000,
  /** Somebody waits for the answer. */
  whenDoubted: 10,
};

/**
 * An open connection proves nothing where the stream is silent and nobody answers either: it is as good as lost, until one of
 * them speaks. Health is told only of what is new to it, since that is a look at the whole run.
 */
export function createSilence({ now, random }: Pick<Surroundings, 'now' | 'random'>, health: Health): Silence {
  let isLost = false;
  let inVain = 0;
  let notBefore = 0;
  const broken = (): void => {
    if (isLost) health.flows();
    isLost = false;
  };
  return {
    patience: (isDoubted) => Math.max(isDoubted ? quiet.whenDoubted : quiet.whenUndoubted, notBefore - now()),
    isTooEarly: () => now() < notBefore,
    broken,
    answered: () => {
      inVain = 0;
      broken();
    },
    unanswered: (since, retryAfterMs) => {
      if (!isLost) health.lost(since);
      isLost = true;
      inVain += 1;
      notBefore = now() + pick(askAgain(inVain, retryAfterMs), random());
    },
  };
}
