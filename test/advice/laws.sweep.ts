/** The laws of advice over many generated inputs. */
import fc from 'fast-check';
import { it } from 'vitest';
import { laws } from './helpers/laws.ts';
import { inputs } from './helpers/situations.ts';

it.each(Object.entries(laws))('%s', (_, law) => {
  fc.assert(fc.property(inputs, law), { numRuns: 10_000, seed: 54 });
});
