/** Rules that every story obeys. A failing seed prints its story. */
import { describe, expect, it } from 'vitest';
import { Clock } from '../clock.ts';
import type { Pod } from '../objects.ts';
import { randomStory } from '../random-story.ts';
import type { RecordedRow } from '../rows.ts';
import type { Story } from '../story.ts';
import type { Simulation } from '../simulate.ts';
import { simulate } from '../simulate.ts';
import { rounds } from '../../helpers/sweep.ts';

const seeds = Array.from({ length: rounds(1000, 2000) }, (_, index) => index + 1);
const simulations = seeds.map((seed) => ({ story: randomStory(seed), simulation: simulate(randomStory(seed)) }));

type Watch = Extract<RecordedRow, { type: 'watch' }>;
type WatchOf = Watch & { event: { object: Pod } };

const watches = (rows: readonly RecordedRow[], resource: string): WatchOf[] =>
  rows.filter((row): row is WatchOf => row.type === 'watch' && row.resource === resource);

/** Changes of the story's pod, without a successor of the same name. */
function ofThePod({ rows }: Simulation, story: Story): WatchOf[] {
  const all = watches(rows, 'pods').filter((row) => row.event.object.metadata.name === story.pod.name);
  const successor = all.findIndex((row) => row.event.type === 'ADDED');
  return successor < 0 ? all : all.slice(0, successor);
}

function everyStory(check: (one: Simulation, story: Story) => void): void {
  for (const { story, simulation: one } of simulations) {
    try {
      check(one, story);
    } catch (cause) {
      throw new Error(`seed ${story.seed}: ${String(cause)}\n${JSON.stringify(story)}`, { cause });
    }
  }
}

const nanoseconds = (stamp: string): bigint => {
  const [whole = '', fraction = '0'] = stamp.replace('Z', '').split('.');
  return BigInt(Date.parse(`${whole}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
};

const instant = ({ expected }: Simulation, name: string, subject?: string) =>
  expected.instants.find((one) => one.name === name && one.subject === subject);

describe('the simulated kubelet', () => {
  it('gives the same rows for the same seed, byte for byte', () => {
    for (const seed of [1, 7, 99, 2 ** 31, 123_456_789_012])
      expect(JSON.stringify(simulate(randomStory(seed)))).toBe(JSON.stringify(simulate(randomStory(seed))));
    expect(JSON.stringify(simulate(randomStory(1)).rows)).not.toBe(JSON.stringify(simulate(randomStory(2)).rows));
  });

  it('shows most of what can happen', () => {
    const outcomes = new Set(simulations.flatMap(({ simulation: one }) => one.expected.outcomes));
    for (const outcome of ['forced', 'oom', 'killed', 'failed', 'overran', 'stuck', 'unknown', 'graceful', 'removed'])
      expect(outcomes, outcome).toContain(outcome);
    expect(new Set(simulations.flatMap(({ simulation: one }) => one.expected.triggers)).size).toBe(12);
    const reasons = new Set(
      simulations.flatMap(({ simulation: one }) =>
        watches(one.rows, 'events').map((row) => (row.event.object as { reason?: string }).reason),
      ),
    );
    for (const reason of [
      'Killing',
      'FailedPreStopHook',
      'FailedKillPod',
      'Unhealthy',
      'TaintManagerEviction',
      'Preempted',
      'NodeNotReady',
    ])
      expect(reasons, reason).toContain(reason);
  });

  it('writes rows in order of arrival, and resource versions grow on every stream', () => {
    everyStory(({ rows }) => {
      const times = rows.flatMap((row) => (row.type === 'about' ? [] : [Date.parse(row.at)]));
      expect(times.every((time, index) => index === 0 || time >= times[index - 1]!)).toBe(true);
      for (const row of rows) {
        if (row.type !== 'list') continue;
        const versions = watches(rows, row.resource).map((one) => Number(one.event.object.metadata.resourceVersion));
        const all = [Number((row.list.metadata as { resourceVersion: string }).resourceVersion), ...versions];
        expect(all.every((version, index) => index === 0 || version > all[index - 1]!)).toBe(true);
      }
    });
  });

  it('sets deletionTimestamp to the request plus grace, cut to whole seconds of the API clock', () => {
    everyStory((one, story) => {
      const first = ofThePod(one, story).find((row) => row.event.object.metadata.deletionTimestamp !== undefined);
      const accepted = instant(one, 'accepted');
      if (!first || !accepted) return;
      const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = first.event.object.metadata;
      const began = BigInt(story.beganAt) * 1_000_000n;
      const at = new Clock(story.clocks.api, story.beganAt).read(Number(nanoseconds(accepted.trueTime) - began));
      const asked = nanoseconds(deletionTimestamp!) - BigInt(deletionGracePeriodSeconds) * 1_000_000_000n;
      expect(asked <= at && at < asked + 1_000_000_000n).toBe(true);
      expect(Date.parse(first.at)).toBeGreaterThanOrEqual(Number(nanoseconds(accepted.client) / 1_000_000n));
    });
  });

  it('deletes an object once, after a change to grace 0 unless it had that before', () => {
    everyStory((one, story) => {
      const changes = ofThePod(one, story);
      const deleted = changes.filter((row) => row.event.type === 'DELETED');
      expect(deleted.length).toBeLessThanOrEqual(1);
      expect(deleted.length === 1).toBe(instant(one, 'removed') !== undefined);
      if (deleted.length === 0) return;
      expect(changes.at(-1)).toBe(deleted[0]);
      expect(changes.at(-2)?.event.object.metadata.deletionGracePeriodSeconds).toBe(0);
    });
  });

  it('stops containers in the order of the runtime: asked, signalled, killed at the timeout, gone', () => {
    everyStory(({ truth }, story) => {
      for (const one of truth) {
        expect(one.timeout_s).toBeGreaterThanOrEqual(2);
        const order = [one.stop_requested, one.stop_signal_sent, one.sigkill_sent].filter(
          (stamp) => stamp !== undefined,
        );
        const stamps = order.map(nanoseconds);
        expect(stamps.every((stamp, index) => index === 0 || stamp >= stamps[index - 1]!)).toBe(true);
        const undisturbed = story.faults.length === 0 && story.kubelet.failedKills === 0;
        if (!undisturbed || one.sigkill_sent === undefined || one.stop_signal_sent === undefined) continue;
        const waited = Number(nanoseconds(one.sigkill_sent) - nanoseconds(one.stop_signal_sent)) / 1e9;
        // A drifting clock may show a shorter timeout.
        expect(waited).toBeGreaterThanOrEqual(one.timeout_s * (1 - 1e-4));
        expect(one.exited! > one.sigkill_sent).toBe(true);
      }
    });
  });

  it('writes the true times, floored to seconds of the node clock', () => {
    everyStory((one, story) => {
      const last = ofThePod(one, story).at(-1)?.event.object;
      const statuses = [...(last?.status.containerStatuses ?? []), ...(last?.status.initContainerStatuses ?? [])];
      for (const { container, exited, exit_status } of one.truth) {
        const end = statuses.find((status) => status.name === container)?.state.terminated as
          { finishedAt: string | null; exitCode: number } | undefined;
        if (!end || end.finishedAt === null || exited === undefined) continue;
        expect(end).toMatchObject({ finishedAt: `${exited.slice(0, 19)}Z`, exitCode: exit_status });
      }
    });
  });

  it('names Killing Events after the nanosecond of the kubelet’s reaction, never before it can know', () => {
    everyStory((one, story) => {
      const events = watches(one.rows, 'events').map(
        (row) => row.event.object as unknown as { reason: string; metadata: { name: string } },
      );
      const names = events.filter(
        (event) => event.reason === 'Killing' && event.metadata.name.startsWith(`${story.pod.name}.`),
      );
      const accepted = instant(one, 'accepted');
      if (!accepted) return;
      for (const { metadata } of names)
        expect(BigInt(`0x${metadata.name.split('.').pop()}`) >= nanoseconds(accepted.node)).toBe(true);
    });
  });

  it('lets controllers delete only if the story says so', () => {
    everyStory(({ rows }, story) => {
      const deletes = watches(rows, 'events').filter(
        (row) => (row.event.object as { reason?: string }).reason === 'SuccessfulDelete',
      );
      if (!['rollout', 'scale-down', 'job'].includes(story.trigger.kind)) expect(deletes).toEqual([]);
    });
  });

  it('simulates a story in at most eight times the time of writing and parsing its JSON', () => {
    // The best ratio of three, so that a busy machine does not fail the test; about 2.5 on an idle one.
    const ratios = [5001, 5101, 5201].map((first) => {
      const began = performance.now();
      const stories = Array.from({ length: 100 }, (_, index) => simulate(randomStory(first + index)));
      const simulated = performance.now();
      for (const story of stories) JSON.parse(JSON.stringify(story));
      return (simulated - began) / (performance.now() - simulated);
    });
    expect(Math.min(...ratios)).toBeLessThan(8);
  });
});
