/** Recordings of many pods, played over HTTP: each pod is reported once and correctly, with few requests. */
import { describe, expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import type { RolloutSummary } from '../../src/verdict/rollout.ts';
import { servingPatiently, type PatientServing } from '../helpers/serving-patiently.ts';
import { heldAgainst } from '../helpers/truth.ts';
import { runMain } from './helpers/in-process.ts';

interface Printed {
  exits: ExitReport[];
  summary: RolloutSummary;
}

const followed = async ({ flags }: PatientServing, ...target: string[]) => {
  const ran = await runMain([...target, '--all-terminating', '-o', 'json', '-v=2', ...flags]);
  return { ...ran, printed: JSON.parse(ran.stdout) as Printed };
};

const playing = <T>(name: string, work: (serving: PatientServing) => Promise<T>): Promise<T> =>
  servingPatiently(name, { attachDelayMs: 1500 }, work);

/** What the request budget counts: watches, logs and all other requests. */
function askedOf({ server }: PatientServing): { watches: number; logs: number; others: number } {
  const isLog = ({ url }: { url: string }): boolean => url.includes('/log?');
  const logs = server.requests.filter(isLog).length;
  const watches = server.requests.filter((one) => one.verb === 'watch').length;
  return { watches, logs, others: server.requests.length - watches - logs };
}

const rows = [
  ['rollout-25', 'deploy/checkout', 25, 'rollout'],
  ['scale-to-zero-40', 'deploy/checkout', 40, 'scale-down'],
  ['statefulset-rollout', 'sts/db', 3, 'rollout'],
  ['daemonset-rollout', 'ds/log', 1, 'rollout'],
] as const;

describe.concurrent.each(rows)('the recording %s', (name, target, pods, trigger) => {
  it(`reports every pod once, with the trigger ${trigger} and without lost evidence`, () =>
    playing(name, async (cluster) => {
      const { printed, code, stderr } = await followed(cluster, target);
      expect(stderr).not.toMatch(/evidence|lost/);
      expect(code).toBe(0);
      expect(new Set(printed.exits.map(({ pod }) => pod.uid)).size).toBe(pods);
      expect(printed.exits).toHaveLength(pods);
      expect(printed.summary).toMatchObject({ pods, unseen: [], exitCode: 0 });
      expect([...new Set(printed.exits.map((one) => one.trigger.kind))]).toEqual([trigger]);
      expect(printed.exits.flatMap(({ gaps }) => gaps)).toEqual([]);
      const codes = printed.exits.flatMap(({ verdict }) => verdict.findings.map((finding) => finding.code));
      expect(codes).not.toContain('evidence-lost');
      for (const report of printed.exits) {
        const truths = cluster.server.truth().filter(({ pod }) => pod === report.pod.name);
        const missed = heldAgainst(report, truths).filter(({ hit }) => !hit);
        expect(missed.map(({ instant, container }) => `${report.pod.name} ${container} ${instant}`)).toEqual([]);
      }
      const asked = askedOf(cluster);
      expect(asked.watches).toBeLessThanOrEqual(12 + 3);
      expect(asked.logs).toBeLessThanOrEqual(100);
      expect(stderr).toContain(
        `podexit: ${asked.watches} watches, ${asked.logs} logs, ${asked.others} other requests\n`,
      );
      expect(asked.watches + asked.others).toBeLessThanOrEqual(40 + 6 + 2 * pods);
    }));
});
