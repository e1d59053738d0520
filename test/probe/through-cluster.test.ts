/** The API server's proxies over HTTP: a Service and the terminating pod, with real servers behind them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Loopback } from '../sim/faults/faulty-server.ts';
import { loadScenario, shippedScenarios } from '../../src/demo/scenarios.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { podexit } from '../helpers/built.ts';
import { hasOpenssl, selfSigned } from '../helpers/self-signed.ts';
import { serving } from '../helpers/serving.ts';
import type { Counting } from './helpers/counting.ts';
import { counting } from './helpers/counting.ts';

let service: Counting;
let pod: Counting;
let answered: Record<string, number>;
beforeEach(async () => {
  answered = {};
  const answers = (name: string) =>
    counting((_, answer) => ((answered[name] = (answered[name] ?? 0) + 1), answer.end()));
  [service, pod] = [await answers('service'), await answers('pod')];
});
afterEach(() => Promise.all([service.close(), pod.close()]));

/** A scenario with true instants, such as that of the stop signal. */
const scenario = loadScenario(shippedScenarios[0]!);
const backends = (resource: string): string => (resource === 'pods' ? pod : service).url;
const signalledAt = (server: Loopback): number => Date.parse(server.truth()[0]?.stop_signal_sent ?? '');

it('dates the end of serving with the pod proxy, and reports no loss with the Service proxy', async () => {
  let closedAt = 0;
  const { stdout, exitedAt } = await serving('graceful-exit', { scenario, backends }, async ({ server, flags }) => {
    const probes = '--probe service/checkout:80/pay --probe pod:8080/ready --probe-rate 20 --probe-timeout 10s';
    const timer = setInterval(() => {
      if (closedAt > 0 || server.deletesAccepted === 0 || !(Date.now() >= signalledAt(server) + 2000)) return;
      closedAt = Date.now();
      void pod.close();
    }, 5);
    const ran = await podexit([server.pod, ...flags, ...probes.split(' '), '-o', 'json']);
    clearInterval(timer);
    return { ...ran, exitedAt: Date.parse(server.truth()[0]?.exited ?? '') };
  });
  // On a late machine the container may have ended before its server is closed.
  const endedAt = Math.min(closedAt, exitedAt);
  const { containers, traffic, verdict } = JSON.parse(stdout) as ExitReport;
  const [viaService, viaPod] = traffic?.probes ?? [];
  expect(viaService).toMatchObject({ via: 'service-proxy', failed: 0 });
  expect(viaService?.sent).toBeLessThanOrEqual(answered['service'] ?? 0);
  // What it answers after that is not the container's.
  const succeeded = closedAt > exitedAt ? viaPod?.succeeded : answered['pod'];
  expect(viaPod).toMatchObject({ via: 'pod-proxy', succeeded });
  expect(viaPod?.succeeded).toBeLessThanOrEqual(answered['pod'] ?? 0);
  expect(verdict.gates).toMatchObject([{ name: 'max-lost', passed: true }]);
  const { servedUntil } = containers[0] ?? {};
  expect(Date.parse(servedUntil?.earliest ?? '')).toBeLessThanOrEqual(endedAt);
  expect(Date.parse(servedUntil?.latest ?? '')).toBeGreaterThanOrEqual(endedAt);
  expect(Date.parse(servedUntil?.latest ?? '') - Date.parse(servedUntil?.earliest ?? '')).toBeLessThan(2000);
  expect(traffic?.reason).toMatch(
    /app answered new requests until (≈?\d\.\d|\d\.\d–\d\.\d)s after SIGTERM · no loss measured \(\d+ requests: below \d+% unproven\)$/,
  );
});

it('prints the Role that its proxies need, and deletes nothing', async () => {
  const forbidden = () => ({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: 403,
    message: 'services "checkout" is forbidden: User "dev" cannot get resource "services/proxy"',
  });
  const refusing = await counting((_, answer) => {
    answer.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(forbidden()));
  });
  await serving('graceful-exit', { backends: () => refusing.url }, async ({ server, flags }) => {
    const { code, stderr } = await podexit([server.pod, ...flags, '--probe', 'service/checkout']);
    expect(code).toBe(1);
    expect(stderr).toContain('failed before anything was deleted: HTTP 403');
    expect(stderr).toContain('resources: ["services/proxy"]');
    expect(stderr).toContain('verbs: ["get"]');
    expect(server.deletesAccepted).toBe(0);
  });
  await refusing.close();
});

it.runIf(hasOpenssl)(
  'probes the API server itself like any other URL, without the credentials of the run',
  async () => {
    await serving(
      'graceful-exit',
      { scenario, token: 'secret-token', tls: selfSigned() },
      async ({ server, flags }) => {
        const { code, stderr } = await podexit([
          server.pod,
          ...flags,
          '--probe',
          `${server.url}/version`,
          '--probe-insecure',
        ]);
        expect(code).toBe(1);
        expect(stderr).toContain('HTTP 401');
        expect(server.deletesAccepted).toBe(0);
      },
    );
  },
);
