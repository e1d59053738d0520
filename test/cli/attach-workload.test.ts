/** `--attach` watches a workload before one of its pods terminates: here another client evicts it. */
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { servingPatiently } from '../helpers/serving-patiently.ts';
import { runMain } from './helpers/in-process.ts';

it('reports when the pod left the Service also for an eviction, which changes the pod just before deleting it', () =>
  servingPatiently('evicted', {}, async ({ flags, server, asked }) => {
    const attached = runMain(['deploy/checkout', '--attach', '-o', 'json', ...flags]);
    await asked('watch', 'endpointslices');
    await runMain([server.pod, '--evict', '--wait=false', ...flags]);
    const report = JSON.parse((await attached).stdout) as ExitReport;
    expect(report.trigger).toMatchObject({ kind: 'eviction-api' });
    expect(report.marks.map(({ name }) => name)).toContain('unrouted');
    expect(report.gaps).toEqual([]);
  }));
