/** The rows of `why` stand in the order of the times that are printed, however wide the moments are. */
import { expect, it } from 'vitest';
import { whyText } from '../../src/advice/why/report.ts';
import { penFor } from '../../src/output/palette.ts';

const start = Date.parse('2026-11-28T03:00:00Z');
const moment = (name: string, what: string, [earliest, latest]: [number, number]) =>
  ({ name, what, source: 'an Event', earliest: start + earliest, latest: start + latest }) as never;

it('prints no row above one with an earlier time', () => {
  const moments = [
    moment('cordoned', 'node node1 was cordoned', [0, 1000]),
    // Sorted by their earliest instants, this would come first.
    moment('stopping', 'kubelet started termination of app', [4000, 6000]),
    moment('created', 'pod web-1 was created', [4300, 4700]),
  ];
  const known = { pod: { namespace: 'shop', name: 'web-0' }, heading: '', summary: 'stopped', cannotTell: [], moments };
  const style = { color: false, ascii: false } as never;
  const times = whyText(known as never, penFor(style), 100).flatMap((line) => /^ {2}(\+[\d.]+s)/.exec(line)?.[1] ?? []);
  expect(times).toEqual(['+4.0s', '+4.5s']);
});
