import { rounds } from '../../helpers/sweep.ts';

/** `PODEXIT_FUZZ=N` runs N times as many cases; `PODEXIT_SEED` draws other ones. A failure names its case's seed. */
const factor = Number(process.env['PODEXIT_FUZZ'] ?? 1);

/** An eightieth of them with each change. */
export const cases = (inSweep: number): number => Math.round(rounds(inSweep / 80, inSweep) * factor);
export const firstSeed = Number(process.env['PODEXIT_SEED'] ?? 1);
/** Real ms that a fuzzer may take. */
export const fuzzTime = 600_000 * Math.max(1, factor);
