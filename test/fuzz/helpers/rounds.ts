/** `PODEXIT_FUZZ=N` runs N times as many cases; `PODEXIT_SEED` draws other ones. A failure names its case's seed. */
const factor = Number(process.env['PODEXIT_FUZZ'] ?? 1);

export const cases = (inCi: number): number => Math.round(inCi * factor);
export const firstSeed = Number(process.env['PODEXIT_SEED'] ?? 1);
/** Real ms that a fuzzer may take. */
export const fuzzTime = 600_000 * Math.max(1, factor);
