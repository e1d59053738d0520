/** The Events about a replacement that does not start: one request more, and only then. */
import { describe, expect, it } from 'vitest';
import type { Scenario } from '../../src/demo/scenario.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import { traced } from './helpers/traced.ts';

const scenario = loadRecording('graceful-exit');
const replacement = 'checkout-754699c75f-rqfbr';

/** Without what the replacement did once it was scheduled. */
const held: Scenario = {
  ...scenario,
  rows: scenario.rows.filter((row) => {
    if (row.type !== 'watch' || row.resource !== 'pods') return true;
    const state = JSON.stringify(row.event.object);
    return !state.includes(`"name":"${replacement}"`) || !state.includes('"running"');
  }),
};

const watchesOfReplacement = async (run: Scenario, live = {}) =>
  (await traced(run, { live })).requests.filter(({ url }) => url.includes(`involvedObject.name%3D${replacement}`));

describe('the Events about a replacement are watched', () => {
  it('once, if it has not started 2 s after it was created', async () => {
    expect(await watchesOfReplacement(held)).toHaveLength(1);
  });

  it('not if it has started', async () => {
    expect(await watchesOfReplacement(scenario, { waitReplacement: true })).toEqual([]);
  });
});
