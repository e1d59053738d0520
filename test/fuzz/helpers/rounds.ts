import { rounds } from '../../helpers/sweep.ts';

/** `PODEXIT_FUZZ=N` runs N times as many cases; `PODEXIT_SEED` selects other ones. A failure prints its seed. */
const factor = Number(process.env['PODEXIT_FUZZ'] ?? 1);

/** The number of cases: all in the sweep, a two-hundredth otherwise. */
export const cases = (inSweep: number): number => Math.round(rounds(inSweep / 200, inSweep) * factor);
export const firstSeed = Number(process.env['PODEXIT_SEED'] ?? 1);
/** Real ms that a fuzzer may take. */
export const fuzzTime = 600_000 * Math.max(1, factor);
