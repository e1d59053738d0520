/** The pod is one of its own siblings, but each of its changes is observed once. */
import { expect, it } from 'vitest';
import { loadRecording } from '../demo/helpers/load.ts';
import { traced } from './helpers/traced.ts';

it('podexit observes each change of the pod and of its siblings once', async () => {
  const { observations, trace } = await traced(loadRecording('graceful-exit'));
  const changes = observations.flatMap((one) =>
    one.kind === 'changed' && one.object.kind === 'Pod'
      ? [`${one.change} ${one.object.metadata.uid} ${one.object.metadata.resourceVersion}`]
      : [],
  );
  expect(new Set(changes).size).toBe(changes.length);
  const uids = new Set(changes.map((change) => change.split(' ')[1]));
  expect(uids).toContain(trace?.uid);
  expect(uids.size).toBe(2);
});
