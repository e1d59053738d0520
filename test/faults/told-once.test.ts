/** The pod is one of its own siblings: two streams tell what becomes of it. */
import { expect, it } from 'vitest';
import { loadRecording } from '../demo/helpers/load.ts';
import { traced } from './helpers/traced.ts';

it('what becomes of the pod is observed once, and what becomes of its siblings as well', async () => {
  const { observations, trace } = await traced(loadRecording('graceful-exit'));
  const told = (stream: string) =>
    observations.flatMap((one) =>
      one.kind === 'changed' && one.stream === stream ? [one.object.metadata.uid === trace?.uid] : [],
    );
  expect(new Set(told('pod'))).toEqual(new Set([true]));
  expect(new Set(told('siblings'))).toEqual(new Set([false]));
});
