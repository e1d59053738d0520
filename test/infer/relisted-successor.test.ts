/** A replacement that podexit could date too late: the pod's own list has it before the list of its siblings. */
import { expect, it } from 'vitest';
import type { RawObservation } from '../../src/model/observation.ts';
import { changesOf, judged, storyObservations } from '../helpers/cases.ts';

it('the gap before a new list of the pod dates a successor of the same name in that list', () => {
  const all = storyObservations({ owner: { kind: 'statefulset', name: 'api', readyAfterMs: 300 } });
  const own = changesOf(all, 'pod');
  const gone = own.find(({ change }) => change === 'DELETED');
  const done = own.find(({ object }) => object.status['phase'] === 'Succeeded');
  if (!gone || !done) throw new Error('the pod did not end');
  const { name, uid } = gone.object.metadata;
  const came = changesOf(all, 'siblings').filter(
    ({ object: { metadata } }) => metadata.name === name && metadata.uid !== uid,
  );
  const last = came.at(-1)?.object;
  const [from, to] = [done.at + 100, gone.at + 5000];
  const listedAgain = (stream: 'pod' | 'siblings', at: number): RawObservation[] => [
    { at, kind: 'gap', stream, from, to: at, cause: 'expired' },
    {
      at,
      kind: 'listed',
      stream,
      resourceVersion: '99999',
      objects: [last],
      ...(stream === 'pod' ? { name } : {}),
      sentAt: to - 5,
    },
  ];
  const isCut = (one: RawObservation): boolean =>
    one.kind === 'changed' && (one.stream === 'pod' || one.stream === 'siblings') && one.at > from;
  const cut = [...all.filter((one) => !isCut(one)), ...listedAgain('pod', to), ...listedAgain('siblings', to + 5)];
  const { replacement } = judged(cut.sort((a, b) => a.at - b.at));
  for (const instant of [replacement?.createdAt, replacement?.scheduledAt, replacement?.readyAt]) {
    expect(Date.parse(instant?.earliest ?? '')).toBeLessThanOrEqual(gone.at + 1);
    expect(Date.parse(instant?.latest ?? '')).toBeGreaterThanOrEqual(gone.at);
  }
});
