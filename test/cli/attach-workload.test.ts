/** `--attach` watches a workload before one of its pods terminates: the report knows the state before the deletion. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Fault } from '../sim/faults/fault.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { servingPatiently, type PatientServing } from '../helpers/serving-patiently.ts';
import { heldAgainst } from '../helpers/truth.ts';
import { runMain } from './helpers/in-process.ts';

const attached = async ({ flags }: PatientServing, ...words: string[]) => {
  const ran = await runMain(['deploy/checkout', '--attach', '-o', 'json', ...words, ...flags]);
  return { ...ran, report: JSON.parse(ran.stdout) as ExitReport };
};
const during = <T>(faults: readonly Fault[], work: (serving: PatientServing) => Promise<T>): Promise<T> =>
  servingPatiently('rolling-update', { attachDelayMs: 1500, faults }, work);
const ids = ({ marks }: ExitReport): string[] => marks.map(({ name }) => name);
const gate = ({ verdict }: ExitReport) => verdict.gates[0];
const slicesWatchBreaks: Fault = { kind: 'drop', resource: 'endpointslices', verb: 'watch' };

describe.concurrent('--attach with a workload', () => {
  it('reports when the pod left the Service, and what that means for requests', () =>
    during([], async (cluster) => {
      const record = join(cluster.folder, 'run.ndjson');
      const { report, code } = await attached(cluster, '--min-drain-lead=3s', `--record=${record}`);
      expect(ids(report)).toEqual(expect.arrayContaining(['accepted', 'unrouted', 'endpoint-removed', 'removed']));
      expect(report.endpoints).toMatchObject([{ service: 'checkout', otherReady: 1 }]);
      expect(gate(report)?.message).toMatch(/^SIGTERM of app came within [\d.]+s of/);
      expect(code).toBe(5);
      expect(report.gaps).toEqual([]);
      expect(heldAgainst(report, cluster.server.truth())).toMatchObject([{ hit: true }, { hit: true }]);
      const replayed = await runMain(['replay', record, '-o', 'json', '--min-drain-lead=3s']);
      expect(JSON.parse(replayed.stdout)).toEqual(report);
    }));

  it('reports it too for an eviction, which changes the pod just before deleting it', () =>
    servingPatiently('evicted', {}, async (cluster) => {
      const watching = attached(cluster);
      await cluster.asked('watch', 'endpointslices');
      await runMain([cluster.server.pod, '--evict', '--wait=false', ...cluster.flags]);
      const { report } = await watching;
      expect(report.trigger).toMatchObject({ kind: 'eviction-api' });
      expect(ids(report)).toContain('unrouted');
      expect(report.gaps).toEqual([]);
    }));

  it('misses nothing if the EndpointSlice watch broke before the deletion', () =>
    during([{ ...slicesWatchBreaks, forMs: 600 }], async (cluster) => {
      const { report } = await attached(cluster);
      expect(ids(report)).toContain('unrouted');
      expect(report.gaps).toEqual([]);
    }));

  it('reports that the EndpointSlices were not in sync at the deletion', () =>
    during([{ kind: 'status', code: 503, resource: 'endpointslices', forMs: 4000 }], async (cluster) => {
      const { report } = await attached(cluster, '--min-drain-lead=0.1s');
      expect(ids(report)).not.toContain('unrouted');
      expect(report.gaps).toMatchObject([{ resource: 'endpointslices', cause: 'not-synced' }]);
      expect(gate(report)).toMatchObject({
        passed: false,
        message: expect.stringMatching(/were not being watched/) as string,
      });
    }));

  it('reports a missing permission once, and ends', () =>
    during([{ kind: 'status', code: 403, resource: 'services' }], async (cluster) => {
      const { report, stderr } = await attached(cluster);
      expect(report.endpoints).toEqual([]);
      expect(report.gaps.map(({ resource, cause }) => `${resource} ${cause}`)).toContain('services refused');
      expect(stderr.match(/no permission/g)).toHaveLength(1);
    }));
});

it('--all-terminating reports for each pod when it left the Service', () =>
  during([], async ({ flags }) => {
    const ran = await runMain(['deploy/checkout', '--all-terminating', '-o', 'json', ...flags]);
    const { exits } = JSON.parse(ran.stdout) as { exits: ExitReport[] };
    expect(exits.map(({ endpoints }) => endpoints.map(({ unroutedAt }) => unroutedAt?.basis))).toEqual([['observed']]);
    expect(exits.flatMap(({ gaps }) => gaps)).toEqual([]);
  }));

it('--attach with a pod proves no drain lead if the EndpointSlices were not in sync at the deletion', () =>
  during([{ kind: 'status', code: 503, resource: 'endpointslices', forMs: 2500 }], async ({ flags, server }) => {
    const words = [server.pod, '--attach', '--min-drain-lead=0.1s', '-o', 'json', ...flags];
    const ran = await runMain(words);
    const report = JSON.parse(ran.stdout) as ExitReport;
    expect(gate(report)).toMatchObject({
      passed: false,
      message: expect.stringMatching(/were not being watched/) as string,
    });
  }));
