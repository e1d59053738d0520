/** Log lines that need not be concluded from at once. Pure. */
import type { Observation } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';

/** Of looks at all that follows from a trace, those that a plain line was the reason of: when, client ms, the newest few. */
export type Looks = readonly number[];

/** So many looks are worth it within `pause` ms. */
const most = 3;
const pause = 100;

/** A line that names no signal narrows a little what is known already. */
const isPlain = (observation: Observation): boolean => observation.kind === 'line' && observation.namesSignal !== true;

/**
 * Of sixty containers that all log a thousand lines come in a second. What comes soon after several others is shown with the next
 * news, or with the report; a few lines, as an exit brings them, are never kept waiting.
 */
export const isChatter = (trace: Trace, observation: Observation, looks: Looks): boolean =>
  isPlain(observation) && looks.length === most && trace.now - (looks[0] ?? -Infinity) < pause;

/** After a look because of this observation. */
export const afterLook = (looks: Looks, trace: Trace, observation: Observation): Looks =>
  isPlain(observation) ? [...looks, trace.now].slice(-most) : looks;
