/** The answer of every recording: words that follow the exit code, lengths that add up, patches that kubectl takes. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { renderJson } from '../../src/render/json.ts';
import { exitReportOf } from '../../src/verdict/exit-report.ts';
import type { Report } from '../../src/verdict/report.ts';
import { reportOf } from '../../src/verdict/report.ts';
import { hasKubectl } from '../helpers/machines-kubectl.ts';
import { observationsOf, recordingNames, secondSeriesNames, traceOf, tracedPodsOf } from '../helpers/recordings.ts';
import { faults } from '../render/helpers/schemas.ts';

const replayed = new Map<string, Promise<Report[]>>();

/** Each recording is replayed once for all that is asked about it. */
function reportsOf(name: string): Promise<Report[]> {
  const reports = replayed.get(name) ?? replay(name);
  replayed.set(name, reports);
  return reports;
}

async function replay(name: string): Promise<Report[]> {
  const pods = (await tracedPodsOf(name)).slice(0, 2);
  return pods.flatMap(({ sightings }) => reportOf(traceOf(observationsOf(sightings))) ?? []);
}

const words: Record<number, RegExp> = {
  0: /^(Graceful|Removed)$/,
  2: /^(SIGKILLed|OOMKilled|Exited \d+|Exited late|Force-deleted)$/,
  3: /^(Stuck|Not started)$/,
  4: /^Unknown$/,
};

describe.each([...recordingNames, ...secondSeriesNames])('%s', (name) => {
  it('is answered in a word that follows its exit code, and in whole sentences', async () => {
    const reports = await reportsOf(name);
    expect(reports.length).toBeGreaterThan(0);
    for (const { verdict, answer } of reports) {
      expect(answer.word).toMatch(words[verdict.exitCode] ?? /^$/);
      const { headline, summary, why, advice, traffic, capacity } = answer;
      const said = [headline, summary, why, ...advice, traffic.reason, capacity].join('\n');
      expect(said).not.toMatch(/NaN|Infinity|undefined|null|\d \d|\b1[0-9]{2,}%/);
      expect(answer.traffic.reason).not.toBe('');
    }
  });

  it('says an error only where the exit code is not 0', async () => {
    for (const { verdict } of await reportsOf(name))
      expect(verdict.findings.some(({ severity }) => severity === 'error')).toBe(
        verdict.exitCode === 2 && !isForced(verdict),
      );
  });

  it('makes a document that its schema takes', async () => {
    for (const report of await reportsOf(name)) {
      const document = JSON.parse(renderJson(exitReportOf(report))) as unknown;
      expect(faults('report', document)).toEqual([]);
    }
  });
});

/** A forced deletion is an answer to what was asked for. */
const isForced = ({ outcome }: Report['verdict']): boolean => outcome === 'forced';

const patched = ['graceful-exit', 'sigkill-after-grace', 'statefulset', 'daemonset-rollout'];

describe.skipIf(!hasKubectl)('a fix', () => {
  it.each(patched)('of %s is a command that kubectl takes as it stands', async (name) => {
    const [report] = await reportsOf(name);
    const fix = report?.answer.fix[0];
    expect(fix?.command).toMatch(/^kubectl patch /);
    const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'app', image: 'x' }] } };
    const workload = {
      apiVersion: 'apps/v1',
      kind: fix?.target.kind,
      metadata: { name: fix?.target.name, namespace: report?.timeline.pod.metadata.namespace },
      spec: { selector: { matchLabels: { app: 'x' } }, template },
    };
    // The object comes from stdin instead of a cluster; all else is the command as it was printed.
    const command = `${fix?.command.replace(/^kubectl patch \S+/, 'kubectl patch --local -f -')} -o json`;
    const ran = spawnSync('sh', ['-c', command], { input: JSON.stringify(workload), encoding: 'utf8' });
    expect(ran.stderr).toBe('');
    const { spec } = (JSON.parse(ran.stdout) as typeof workload).spec.template as { spec: Record<string, unknown> };
    expect(spec['terminationGracePeriodSeconds']).toBeGreaterThanOrEqual(15);
    expect(spec['containers']).toMatchObject([
      { name: 'app', image: 'x', lifecycle: { preStop: { sleep: { seconds: 10 } } } },
    ]);
  });

  it.each(['force-delete', 'owner-deleted', 'scale-to-zero-40', 'pending'])('is none for %s', async (name) => {
    for (const { answer } of await reportsOf(name)) expect(answer.fix).toEqual([]);
  });

  it('never gives an app that ignores SIGTERM nothing but a longer grace period', async () => {
    const [report] = await reportsOf('sigkill-after-grace');
    expect(report?.answer.advice[0]).toContain('remove `trap "" TERM`');
    for (const { patch } of report?.answer.fix ?? []) expect(JSON.stringify(patch)).toContain('preStop');
  });
});
