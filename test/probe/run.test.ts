/** Requests during a deletion, through the built command. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { podexit } from '../helpers/built.ts';
import { serving } from '../helpers/serving.ts';
import { counting } from './helpers/counting.ts';

const markOf = ({ marks }: ExitReport, name: string): number =>
  Date.parse(marks.find((mark) => mark.name === name)?.at.earliest ?? '');

it.concurrent(
  'counts the 503s of a server until two seconds after the exit, fails the gate, and has the same report in a replay',
  async () => {
    const said = { 200: 0, 503: 0 };
    let [failingFrom, last] = [Infinity, 0];
    const server = await counting((_, answer) => {
      last = Date.now();
      const status = last >= failingFrom && said[503] < 12 ? 503 : 200;
      said[status] += 1;
      answer.writeHead(status).end();
    });
    const { record, code, stdout, stderr } = await serving(
      'graceful-exit',
      {},
      async ({ server: cluster, flags, folder }) => {
        const record = join(folder, 'run.ndjson');
        const secrets = join(folder, 'headers');
        writeFileSync(secrets, 'Authorization: Bearer hunter2-hunter2\n');
        const words = [
          '--probe',
          `${server.url}pay?card=4711-4711`,
          '--probe-header',
          `@${secrets}`,
          ...['--record', record, '--probe-timeout', '10s'],
        ];
        const failWhenDeleted = setInterval(() => {
          if (cluster.deletesAccepted > 0) failingFrom = Math.min(failingFrom, Date.now() + 500);
        }, 10);
        const ran = await podexit([cluster.pod, ...flags, ...words, '-o', 'json']);
        clearInterval(failWhenDeleted);
        return { record, ...ran };
      },
    );
    await server.close();
    const report = JSON.parse(stdout) as ExitReport;
    expect(said[503]).toBeGreaterThan(5);
    expect(report.verdict.gates).toMatchObject([
      {
        name: 'max-lost',
        passed: false,
        message: `${said[503]} of ${said[200] + said[503]} requests failed`,
      },
    ]);
    expect(code).toBe(5);
    expect(report.traffic).toMatchObject({
      judgement: 'lost',
      probes: [{ target: server.url.replace(/\/$/, '/pay'), sent: said[200] + said[503], failed: said[503] }],
    });
    expect(report.verdict.findings.map((finding) => finding.code)).toContain('requests-lost');
    expect(markOf(report, 'first-failure')).toBeGreaterThanOrEqual(failingFrom);
    expect(markOf(report, 'last-failure')).toBeLessThanOrEqual(last);
    expect(last - markOf(report, 'removed')).toBeGreaterThan(1900);
    const replayed = await podexit(['replay', record, '-o', 'json']);
    expect(JSON.parse(replayed.stdout)).toEqual(report);
    for (const text of [stdout, stderr, readFileSync(record, 'utf8')]) {
      expect(text).not.toContain('hunter2');
      expect(text).not.toContain('4711');
    }
  },
);

it.concurrent('deletes nothing if the target does not answer', async () => {
  const server = await counting((_, answer) => answer.writeHead(500).end());
  await serving('graceful-exit', {}, async ({ server: cluster, flags }) => {
    const { code, stderr } = await podexit([cluster.pod, ...flags, '--probe', server.url]);
    expect(code).toBe(1);
    expect(stderr).toContain('HTTP 500 Internal Server Error');
    expect(cluster.deletesAccepted).toBe(0);
  });
  await server.close();
});

it.concurrent('continues while requests still fail after the pod is gone, if another one could answer', async () => {
  const failures: number[] = [];
  let [last, deletedAt] = [0, Infinity];
  const server = await counting((_, answer) => {
    last = Date.now();
    // The pod is gone after 4 s.
    const fails = last > deletedAt + 5000 && last < deletedAt + 8000;
    if (fails) failures.push(last);
    answer.writeHead(fails ? 503 : 200).end();
  });
  const { stdout } = await serving('graceful-exit', {}, ({ server: cluster, flags }) => {
    const look = setInterval(() => {
      if (cluster.deletesAccepted > 0) deletedAt = Math.min(deletedAt, Date.now());
    }, 10);
    return podexit([cluster.pod, ...flags, '--probe', server.url, '--probe-timeout', '10s', '-o', 'json']).finally(() =>
      clearInterval(look),
    );
  });
  await server.close();
  const report = JSON.parse(stdout) as ExitReport;
  expect(report.traffic?.probes?.[0]?.failed).toBe(failures.length);
  expect(last - Math.max(...failures)).toBeGreaterThan(1900);
});

it.concurrent(
  'shows in the demo that a late load balancer loses requests, and that a preStop sleep prevents it',
  async () => {
    const card = join(mkdtempSync(join(tmpdir(), 'card-')), 'card.txt');
    const [lost, fixed] = await Promise.all([
      podexit(['demo', 'lost-requests', '-o', 'json', '--report', card]),
      podexit(['demo', 'lost-requests', '--fixed', '-o', 'json']),
    ]);
    const gateOf = ({ stdout }: { stdout: string }) => (JSON.parse(stdout) as ExitReport).verdict.gates[0];
    expect(gateOf(lost)).toMatchObject({ name: 'max-lost', passed: false });
    expect(lost.code).toBe(5);
    expect(readFileSync(card, 'utf8').match(/load\s+balancers\s+kept\s+sending/g)).toHaveLength(1);
    expect(gateOf(fixed)).toMatchObject({ name: 'max-lost', passed: true });
    expect(fixed.code).toBe(0);
  },
);

it.concurrent('shows in the demo what a rollout loses, and blames no pod for what another may have lost', async () => {
  const { code, stdout } = await podexit(['demo', 'lost-requests-rollout']);
  expect(code).toBe(5);
  const text = stdout.replaceAll(/\s+/g, ' ');
  expect(text).toMatch(/25 of 25 pods terminated gracefully, \d+ of \d+ requests failed/);
  expect(text).not.toMatch(/kept sending for/);
});

it.concurrent('uses the proxies of the API server, and deletes nothing if those do not answer', async () => {
  await serving('graceful-exit', {}, async ({ server: cluster, flags }) => {
    const words = ['--probe', 'service/checkout:80/pay?card=4711-4711', '--probe', 'pod:8080'];
    const { code, stderr } = await podexit([cluster.pod, ...flags, ...words]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /the probe of (service\/checkout:80\/pay|pod:8080) failed before anything was deleted: HTTP 404/,
    );
    expect(stderr).not.toContain('4711');
    expect(cluster.deletesAccepted).toBe(0);
    const proxied = cluster.requests.filter(({ url }) => url.includes('/proxy/')).map(({ url }) => url);
    expect(proxied).toContain(`/api/v1/namespaces/${cluster.namespace}/services/checkout:80/proxy/pay?card=4711-4711`);
    expect(proxied).toContain(`/api/v1/namespaces/${cluster.namespace}/pods/${cluster.pod}:8080/proxy/`);
  });
});
