/**
 * The loopback server plays every second recording (in the sweep each) to a run, concurrently: one of them to the built
 * command, in real time. The outcome is the same as in the replay, and every interval contains its true instant.
 */
import type { ExpectStatic } from 'vitest';
import { describe, expect, it } from 'vitest';
import type { Tls } from '../sim/faults/other-server.ts';
import type { Loopback } from '../sim/faults/faulty-server.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { podexit } from '../helpers/built.ts';
import { everyNth } from '../helpers/sweep.ts';
import { serving, type Serving } from '../helpers/serving.ts';
import { servingPatiently, type PatientServing } from '../helpers/serving-patiently.ts';
import { hasOpenssl, selfSigned } from '../helpers/self-signed.ts';
import type { Truth } from '../../src/demo/scenarios.ts';
import { runMain } from './helpers/in-process.ts';
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

it('the built command has the same result over HTTP/2 as its replay', async () =>
  compare('native-sidecar', expected['native-sidecar'] as Expected, await traceBuilt('native-sidecar'), expect));

describe.concurrent('over HTTP', () => {
  it.for(everyNth(2, Object.entries(expected)))(
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

describe.skipIf(!hasOpenssl)('over HTTP/2 (skipped without openssl)', () => {
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

/** Even a late run watches everything before another client deletes the pod. */
const optionsOf = (tls?: Tls) => ({ attachDelayMs: 5000, ...(tls && { tls }) });

const wordsOf = (name: string, { server, flags: ofCluster }: Serving): string[] => [
  ...[server.pod, ...ofCluster, '-o', 'json', '--timeout=120s', ...(flags[name] ?? [])],
];

const trace = (name: string, tls?: Tls): Promise<Traced> =>
  servingPatiently(name, optionsOf(tls), async (serving) => {
    const running = runMain(wordsOf(name, serving));
    if (name === 'evicted') await evict(serving);
    return tracedBy(name, serving, await running);
  });

const traceBuilt = (name: string): Promise<Traced> =>
  serving(name, optionsOf(hasOpenssl ? { ...selfSigned(), http2: true } : undefined), async (serving) =>
    tracedBy(name, serving, await podexit(wordsOf(name, serving))),
  );

function tracedBy(name: string, { server }: Serving, { code, stdout, stderr }: Awaited<ReturnType<typeof podexit>>) {
  if (!stdout.startsWith('{')) throw new Error(`${name}: ${stderr}`);
  return {
    report: JSON.parse(stdout) as ExitReport,
    code,
    truth: server.truth(),
    deletes: server.deletesAccepted - Number(name === 'evicted'),
    ours: server.requests.filter(({ userAgent }) => userAgent?.startsWith('kubectl-podexit/')),
  };
}

/** Another client evicts the pod once the command watches it. */
async function evict({ server, pause }: PatientServing): Promise<void> {
  while (!server.requests.some((request) => request.subresource === 'log')) await pause(50);
  await pause(500);
  const { url, namespace, pod } = server;
  const answer = await fetch(`${url}/api/v1/namespaces/${namespace}/pods/${pod}/eviction`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } }),
  });
  expect(answer.status).toBe(201);
}
