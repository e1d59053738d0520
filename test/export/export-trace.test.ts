import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { exportTrace } from '../../src/export/export-trace.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { recordingNames, reportOfRecording } from '../helpers/recordings.ts';
import { startReceiver } from './helpers/receiver.ts';
import type { ReceivedSpan, Receiver } from './helpers/receiver.ts';

let collector: Receiver;

beforeEach(async () => {
  collector = await startReceiver();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await collector.close();
});

const exported = (report: ExitReport): Promise<string | undefined> =>
  exportTrace(report, { env: process.env, version: '1.2.3' });

async function spansOf(name: string): Promise<ReceivedSpan[]> {
  expect(await exported(await reportOfRecording(name))).toBeUndefined();
  expect(collector.received).toHaveLength(1);
  return collector.received.flatMap(({ traces }) => traces.flatMap(({ spans }) => spans));
}

const rootOf = (spans: ReceivedSpan[]): ReceivedSpan => {
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === '');
  expect(roots).toHaveLength(1);
  return roots[0] as ReceivedSpan;
};

const nanosOf = (time: string): bigint => BigInt(Date.parse(time)) * 1_000_000n;

it('sends one trace with the exit as its root and the phases as children', async () => {
  const report = await reportOfRecording('graceful-exit');
  const spans = await spansOf('graceful-exit');
  const root = rootOf(spans);
  expect(root).toMatchObject({ name: 'pod exit', status: { code: 0 } });
  expect(root.attributes).toMatchObject({
    'k8s.namespace.name': report.pod.namespace,
    'k8s.pod.name': report.pod.name,
    'k8s.pod.uid': report.pod.uid,
    'k8s.node.name': report.pod.node,
    'k8s.replicaset.name': report.pod.owner?.name,
    'podexit.outcome': 'graceful',
    'podexit.exit_code': 0,
    'podexit.findings': report.verdict.findings.map(({ code }) => code),
  });
  const children = spans.filter((span) => span !== root);
  expect(children.map(({ name }) => name)).toEqual(report.phases.map(({ name }) => name));
  expect(new Set(children.map(({ parentSpanId, traceId }) => `${traceId} ${parentSpanId}`))).toEqual(
    new Set([`${root.traceId} ${root.spanId}`]),
  );
  expect(children.find(({ name }) => name === 'drain')?.attributes).toMatchObject({
    'k8s.container.name': 'app',
    'podexit.container.outcome': 'completed',
    'podexit.container.exit_code': 0,
  });
});

it('sends each window of failed requests as a separate span', async () => {
  const report = await reportOfRecording('graceful-exit');
  const at = (time: string) => ({ earliest: time, latest: time, basis: 'observed' as const, evidence: [] });
  const window = { start: at('2026-11-20T23:04:30.100Z'), end: at('2026-11-20T23:04:30.600Z'), failed: 3 };
  const probe = {
    ...{ target: 'http://shop', via: 'url' as const, ratePerSecond: 20, sent: 412, succeeded: 409, failed: 3 },
    ...{ failures: [{ kind: 'refused' as const, count: 3 }], windows: [window], latencyMs: {} },
  };
  const traffic = { judgement: 'lost' as const, reason: '', services: [], probes: [probe] };
  expect(await exported({ ...report, traffic })).toBeUndefined();
  const spans = collector.received.flatMap(({ traces }) => traces.flatMap((one) => one.spans));
  const failed = spans.filter(({ name }) => name === 'requests failed');
  expect(failed.map(({ start, end }) => [start, end])).toEqual([
    [nanosOf(window.start.earliest), nanosOf(window.end.earliest)],
  ]);
  expect(failed[0]?.attributes).toMatchObject({ 'podexit.probe.target': 'http://shop', 'podexit.probe.failed': 3 });
});

it('sends each mark as an event of the root at the middle of its interval, exact to the nanosecond', async () => {
  const { marks } = await reportOfRecording('graceful-exit');
  const { events } = rootOf(await spansOf('graceful-exit'));
  for (const mark of marks) {
    const event = events.find(
      ({ name, attributes }) => name === mark.name && attributes['podexit.subject'] === mark.subject,
    );
    expect(event?.time).toBe((nanosOf(mark.at.earliest) + nanosOf(mark.at.latest)) / 2n);
    expect(event?.attributes).toMatchObject({
      'podexit.at.earliest': mark.at.earliest,
      'podexit.at.latest': mark.at.latest,
      'podexit.at.basis': mark.at.basis,
    });
  }
});

it('takes service name and resource attributes from the environment', async () => {
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=ci,service.name=ignored');
  vi.stubEnv('OTEL_SERVICE_NAME', 'checkout-pipeline');
  await spansOf('exit-143');
  const [trace] = collector.received[0]?.traces ?? [];
  expect(trace?.scope).toEqual({ name: 'kubectl-podexit', version: '1.2.3' });
  expect(trace?.resource).toMatchObject({
    'service.name': 'checkout-pipeline',
    'service.version': '1.2.3',
    'deployment.environment.name': 'ci',
    'telemetry.sdk.language': 'nodejs',
  });
});

it('creates valid spans for every recording: no end before its start, no child outside the root', async () => {
  for (const name of recordingNames) {
    collector.received.length = 0;
    const spans = await spansOf(name);
    const root = rootOf(spans);
    const outside = spans.filter(({ start, end }) => end < start || start < root.start || end > root.end);
    expect(outside.map((span) => `${name}: ${span.name}`)).toEqual([]);
    expect(root.events.filter(({ time }) => time < root.start || time > root.end)).toEqual([]);
  }
});

it('marks an exit with a bad exit code as an error, with the outcome', async () => {
  expect(rootOf(await spansOf('sigkill-after-grace')).status).toEqual({ code: 2, message: 'killed' });
});

it('sends protobuf by default, to /v1/traces below the endpoint, with the headers of the environment', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', undefined);
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `${collector.url}/base`);
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20abc,x-tenant=shop');
  const report = await reportOfRecording('exit-143');
  expect(await exported(report)).toBeUndefined();
  expect(collector.received).toMatchObject([
    {
      path: '/base/v1/traces',
      headers: { 'content-type': 'application/x-protobuf', authorization: 'Bearer abc', 'x-tenant': 'shop' },
    },
  ]);
  expect(collector.received[0]?.body.toString('latin1')).toContain(report.pod.uid);
});

it('prefers the endpoint for traces over the general one, and uses it unchanged', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9');
  vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', `${collector.url}/somewhere`);
  await spansOf('exit-143');
  expect(collector.received[0]?.path).toBe('/somewhere');
});

describe('TRACEPARENT', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const spanId = 'b7ad6b7169203331';

  it('becomes a link with its state, and the exit stays a separate trace', async () => {
    vi.stubEnv('TRACEPARENT', `00-${traceId}-${spanId}-01`);
    vi.stubEnv('TRACESTATE', 'vendor=x');
    const root = rootOf(await spansOf('exit-143'));
    expect(root.links).toEqual([{ traceId, spanId, traceState: 'vendor=x' }]);
    expect(root.traceId).not.toBe(traceId);
  });

  it.each(['', 'nonsense', `00-${'0'.repeat(32)}-${spanId}-01`])(
    'is ignored if it is malformed: "%s"',
    async (text) => {
      vi.stubEnv('TRACEPARENT', text);
      expect(rootOf(await spansOf('exit-143')).links).toEqual([]);
    },
  );
});

it('sends nothing if OTEL_SDK_DISABLED is true', async () => {
  vi.stubEnv('OTEL_SDK_DISABLED', 'true');
  expect(await exported(await reportOfRecording('exit-143'))).toBeUndefined();
  expect(collector.received).toEqual([]);
});

describe('a failure is reported in one sentence', () => {
  it('a collector that never answers, after the timeout', async () => {
    const silent = await startReceiver('silent');
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', silent.url);
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '300');
    const started = performance.now();
    expect(await exported(await reportOfRecording('exit-143'))).toMatch(/time|within 0\.3s/i);
    // Without the variable it is 10 s.
    expect(performance.now() - started).toBeLessThan(9000);
    await silent.close();
  });

  it('an address that refuses connections', async () => {
    await collector.close();
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '300');
    expect(await exported(await reportOfRecording('exit-143'))).toMatch(/ECONNREFUSED|within 0\.3s/);
  });

  it('a collector that rejects the request', async () => {
    const refusing = await startReceiver(401);
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', refusing.url);
    expect(await exported(await reportOfRecording('exit-143'))).toMatch(/Unauthorized|401/);
    await refusing.close();
  });

  it('an unsupported protocol', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc');
    expect(await exported(await reportOfRecording('exit-143'))).toBe(
      'unsupported protocol grpc: use http/protobuf or http/json',
    );
    expect(collector.received).toEqual([]);
  });
});
