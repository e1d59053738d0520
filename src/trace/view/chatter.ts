/** Log lines that need not be concluded from at once. Pure. */
import type { Observation } from '../observation.ts';
import type { Trace } from '../trace.ts';

/** ms between two looks at all that follows from a trace, where nothing but chatter came. */
const pause = 100;

/**
 * A line that names no signal narrows a little what is known already. Of sixty containers that all log a thousand come in a
 * second; who looked less than a moment ago (at client ms `lookedAt`) learns of them with the next news, or with the report.
 */
export const isChatter = (trace: Trace, observation: Observation, lookedAt: number): boolean =>
  observation.kind === 'line' && observation.namesSignal !== true && trace.now - lookedAt < pause;
