/**
 * The loopback server plays every second recording (in the sweep each) to the built command, concurrently and in real
 * time. The outcome is the same as in the replay, and every interval contains its true instant.
 */
import type { ExpectStatic } from 'vitest';
import { describe, expect, it } from 'vitest';
import type { Tls } from '../sim/faults/other-server.ts';
import type { Loopback } from '../sim/faults/faulty-server.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { podexit } from '../helpers/built.ts';
import { everyNth, isSweep } from '../helpers/sweep.ts';
import { serving } from '../helpers/serving.ts';
import { hasOpenssl, selfSigned } from '../helpers/self-signed.ts';
import type { Truth } from '../../src/demo/scenario.ts';
import { heldAgainst } from '../helpers/truth.ts';
import type { Expected } from '../infer/expected.ts';
import { expected } from '../infer/expected.ts';

/** The flags that make the command do what the recorder did: another client deleted these pods. */
const flags: Record<string, string[]> = {
  'rolling-update': ['--attach'],
  'owner-deleted': ['--attach'],
  preempted: ['--attach'],
  'taint-evicted': ['--attach'],
  evicted: ['--attach'],
  'force-delete': ['--force'],
};

/** Each of these takes half a minute or more, so only the sweep runs them. */
const long = new Set(isSweep ? [] : ['grace-shortened', 'no-grace-spec-default', 'node-down']);

describe.concurrent('over HTTP, through the built command', () => {
  it.for(everyNth(2, Object.entries(expected)).filter(([name]) => !long.has(name)))(
    '%s has the same result as its replay',
    async ([name, wanted], { expect }) => compare(name, wanted, await trace(name), expect),
  );
});

/**
 * They cover hooks, several containers, a broken log, two Services, a successor with the same name, and a deletion by
 * another client.
 */
const overHttp2 = [
  'multi-container',
  'prestop-sleep',
  'kubelet-restart',
  'two-services',
  'statefulset',
  'rolling-update',
];

describe.skipIf(!hasOpenssl)('over HTTP/2, through the built command (skipped without openssl)', () => {
  it.concurrent.for(overHttp2)('%s has the same result as its replay, on one connection', async (name, { expect }) => {
    const traced = await trace(name, { ...selfSigned(), http2: true });
    compare(name, expected[name] as Expected, traced, expect);
    expect(traced.ours.filter(({ nthOnConnection }) => nthOnConnection === 1)).toHaveLength(1);
  });
});

function compare(name: string, wanted: Expected, { report, code, truth, deletes }: Traced, expect: ExpectStatic): void {
  expect({ outcome: report.verdict.outcome, code, trigger: report.trigger.kind }).toEqual({
    outcome: wanted.outcome,
    code: wanted.exitCode,
    trigger: wanted.trigger,
  });
  expect(Object.fromEntries(report.containers.map((one) => [one.name, one.outcome]))).toEqual(wanted.containers);
  const codes = report.verdict.findings.map((finding) => finding.code);
  expect(codes).toEqual(expect.arrayContaining(wanted.findings));
  expect(codes.filter((one) => wanted.without?.includes(one))).toEqual([]);
  expect(heldAgainst(report, truth).filter((one) => !one.hit)).toEqual([]);
  expect(report.gaps.filter((gap) => !isOfLateMachine(gap))).toEqual([]);
  expect(deletes).toBe(flags[name]?.includes('--attach') ? 0 : 1);
}

/** A stream was late, or by the end not yet known to be whole. */
const isOfLateMachine = ({ cause, to }: ExitReport['gaps'][number]): boolean =>
  cause === 'late' || (cause === 'disconnected' && to === undefined);

interface Traced {
  report: ExitReport;
  code: number | null;
  truth: Truth[];
  deletes: number;
  /** Requests that the command sent. */
  ours: Loopback['requests'];
}

const trace = (name: string, tls?: Tls): Promise<Traced> =>
  // Even a late run watches everything before another client deletes the pod.
  serving(name, { attachDelayMs: 5000, ...(tls && { tls }) }, async ({ server, flags: ofCluster }) => {
    const running = podexit([server.pod, ...ofCluster, '-o', 'json', '--timeout=120s', ...(flags[name] ?? [])]);
    if (name === 'evicted') await evict(server);
    const { code, stdout, stderr } = await running;
    if (!stdout.startsWith('{')) throw new Error(`${name}: ${stderr}`);
    return {
      report: JSON.parse(stdout) as ExitReport,
      code,
      truth: server.truth(),
      deletes: server.deletesAccepted - Number(name === 'evicted'),
      ours: server.requests.filter(({ userAgent }) => userAgent?.startsWith('kubectl-podexit/')),
    };
  });

/** Another client evicts the pod once the command watches it. */
async function evict(server: Loopback): Promise<void> {
  while (!server.requests.some((request) => request.subresource === 'log'))
    await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { url, namespace, pod } = server;
  const answer = await fetch(`${url}/api/v1/namespaces/${namespace}/pods/${pod}/eviction`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } }),
  });
  expect(answer.status).toBe(201);
}
