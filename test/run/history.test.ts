/** What a run over several pods remembers for pods that terminate later. */
import { expect, it } from 'vitest';
import type { Pod } from '../../src/model/kube.ts';
import { observe } from '../../src/model/observe.ts';
import { subjectOf } from '../../src/model/select.ts';
import { createHistory } from '../../src/run/traces/shared-facts.ts';

it('renewals of a Lease do not push out changes of its node', () => {
  const history = createHistory();
  let seq = 0;
  const change = (stream: 'node' | 'lease', kind: string, resourceVersion: string): void => {
    const object = { kind, metadata: { name: 'node1', uid: kind, resourceVersion }, spec: {}, status: {} };
    seq += 1;
    history.take(observe({ at: seq, kind: 'changed', stream, change: 'MODIFIED', object }, seq, { logText: false }));
  };
  change('node', 'Node', '1');
  for (let renewal = 2; renewal < 100; renewal++) change('lease', 'Lease', String(renewal));
  const remembered = history.about(subjectOf({ kind: 'Pod', metadata: { uid: 'of-a-pod', name: 'web' } } as Pod));
  expect(remembered.flatMap((one) => (one.kind === 'changed' ? one.object.kind : []))).toContain('Node');
  expect(remembered.length).toBe(65);
});
