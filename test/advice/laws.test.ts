/** The laws of advice over generated inputs; laws.sweep.ts tries many more. */
import fc from 'fast-check';
import { it } from 'vitest';
import { laws } from './helpers/laws.ts';
import { inputs } from './helpers/situations.ts';

it.each(Object.entries(laws))('%s', (_, law) => {
  fc.assert(fc.property(inputs, law), { numRuns: 100, seed: 53 });
});
