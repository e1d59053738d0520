/** The laws of advice over generated inputs; laws.sweep.ts tries many more, and reduces an input that breaks one. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { laws } from './helpers/laws.ts';
import { inputs } from './helpers/situations.ts';

const generated = fc.sample(inputs, { numRuns: 60, seed: 53 });

it.each(Object.entries(laws))('%s', (_, law) => {
  for (const objects of generated) expect(() => law(objects), JSON.stringify(objects)).not.toThrow();
});
