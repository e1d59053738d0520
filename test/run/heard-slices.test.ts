/** What a watch of slices keeps for whoever asks hours later. */
import { expect, it } from 'vitest';
import { createHeardSlices } from '../../src/run/heard-slices.ts';
import type { Sighting } from '../../src/model/observation.ts';

const stream = 'endpointslices';
const slice = (name: string, revision: number) => ({ metadata: { name, resourceVersion: String(revision) } });
const listed = (at: number, ...names: string[]): Sighting => ({
  kind: 'listed',
  at,
  stream,
  resourceVersion: '1',
  objects: names.map((name) => slice(name, 1)),
});
const changed = (at: number, name: string, change: 'MODIFIED' | 'DELETED' = 'MODIFIED'): Sighting => ({
  kind: 'changed',
  at,
  stream,
  change,
  object: slice(name, at),
});
const resumed = (at: number, since: number): Sighting => ({ kind: 'resumed', at, stream, since });

function heardOf(...sightings: Sighting[]) {
  const heard = createHeardSlices();
  sightings.forEach((one) => heard.take(one));
  return heard;
}

it('tells nothing before the first whole state, nor after its end', () => {
  expect(heardOf(changed(1, 'a')).told()).toBeUndefined();
  const ended = heardOf(listed(1, 'a'));
  ended.end();
  expect(ended.told()).toBeUndefined();
});

it('tells the state, since when it may be old, and what changed', () => {
  const all = [listed(1, 'a'), changed(2, 'a'), resumed(4, 3), changed(5, 'b')] as const;
  expect(heardOf(...all).told()).toEqual({ sightings: [all[0], all[2], all[1], all[3]] });
});

it('forgets what was before a state anew: nobody knows what came in between', () => {
  const anew = listed(9, 'b');
  expect(heardOf(listed(1, 'a'), changed(2, 'a'), resumed(4, 3), anew).told()).toEqual({ sightings: [anew] });
});

it('makes old changes a part of the state, known since they came', () => {
  const many = Array.from({ length: 300 }, (_, index) => changed(10 + index, `s${index % 3}`));
  const told = heardOf(listed(1, 's0', 'gone'), changed(2, 'gone', 'DELETED'), ...many).told()?.sightings ?? [];
  const [state, ...changes] = told;
  expect(changes).toEqual(many.slice(-changes.length));
  const merged = many.length - changes.length;
  expect(state).toMatchObject({ kind: 'listed', at: 10 + merged - 1 });
  const objects = state?.kind === 'listed' ? state.objects : [];
  expect(objects).toHaveLength(3);
  expect(objects).toEqual(
    expect.arrayContaining(many.slice(merged - 3, merged).map((one) => (one as { object: unknown }).object)),
  );
});

it('keeps what it heard of a cut through any number of changes', () => {
  const cut = resumed(4, 3);
  const many = Array.from({ length: 300 }, (_, index) => changed(10 + index, 'a'));
  expect(heardOf(listed(1, 'a'), cut, ...many).told()?.sightings).toContain(cut);
});

it('says since when the connection is gone, until it is there again', () => {
  const heard = heardOf(listed(1, 'a'));
  heard.lost(5);
  heard.lost(7);
  expect(heard.told()?.lostSince).toBe(5);
  heard.lost(undefined);
  expect(heard.told()?.lostSince).toBeUndefined();
});
