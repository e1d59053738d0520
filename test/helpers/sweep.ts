/** Whether this is `npm run test:sweep`, which runs the seeded tests with many seeds. */
export const isSweep = process.env['PODEXIT_SWEEP'] === '1';

/** The number of rounds of a seeded test: few in normal runs, more in the sweep. */
export const rounds = (usual: number, inSweep: number): number => (isSweep ? inSweep : usual);

/** Every nth of the cases, in the sweep all. For rules that hold for each case alike. */
export const everyNth = <T>(nth: number, cases: readonly T[]): T[] =>
  cases.filter((_, index) => isSweep || index % nth === 0);
