/** The message of evidence-lost for each stream: no access, no longer kept, missing to the end or for a time. */
import { expect, it } from 'vitest';
import type { RawObservation, StreamName } from '../../src/model/observation.ts';
import { adding, judged, slicesRefused, storyObservations } from '../helpers/cases.ts';

const all = storyObservations();
const begin = all[0]?.at ?? 0;

const gap = (stream: StreamName, toMs?: number): RawObservation => ({
  at: begin + 30,
  kind: 'gap',
  stream,
  from: begin + 30,
  ...(toMs === undefined ? {} : { to: begin + toMs }),
  cause: 'disconnected',
});

const noAccess = slicesRefused(begin + 20);
const dropped: RawObservation = {
  ...{ at: begin + 20, kind: 'refused', stream: 'logs', container: 'app', status: 404 },
  ...{ verb: 'get', resource: 'pods/log', group: '', message: 'not found' },
};
const dayMs = 86_400_000;

it.each([
  ['a stream that is forbidden', [noAccess], 'EndpointSlices unavailable (no access)'],
  ['a log that its kubelet has dropped', [dropped], 'logs unavailable (no longer kept)'],
  ['a gap that never ended', [gap('events')], 'Events unavailable to the end'],
  ['a gap that ended', [gap('events', dayMs)], 'Events unavailable for a time'],
  [
    'several streams',
    [noAccess, dropped, gap('events', dayMs), gap('services', dayMs)],
    'Events and Services unavailable for a time, EndpointSlices unavailable (no access), logs unavailable (no longer kept)',
  ],
  ['a stream with two gaps, once', [gap('events', dayMs), gap('events')], 'Events unavailable to the end'],
])('%s', (_, missing, text) => {
  const { findings } = judged(adding(all, ...missing)).verdict;
  const messages = findings.flatMap(({ code, message }) => (code === 'evidence-lost' ? [message.split(':')[0]] : []));
  expect(messages).toEqual([text]);
});
