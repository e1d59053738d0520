/** Whether this is `npm run test:sweep`, which runs the seeded tests with as many seeds as they are worth. */
export const isSweep = process.env['PODEXIT_SWEEP'] === '1';

/** How many rounds a seeded test has: few with each change, more in the sweep. */
export const rounds = (usual: number, inSweep: number): number => (isSweep ? inSweep : usual);
