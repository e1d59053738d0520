/** `why` on every recording after its pod is gone: from the remaining Events, and from an audit log made from it. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/demo/data/kube-object.ts';
import { mayOwn } from '../../src/advice/why/gone-pod.ts';
import { exitsIn } from '../../src/advice/history/reports.ts';
import type { WhyReport } from '../../src/advice/why/report.ts';
import type { ExitReport, MarkReport } from '../../src/model/report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { allNames, recordingFile, scenarioFile, truthsOf } from '../helpers/recordings.ts';
import { serving } from '../helpers/serving.ts';
import type { Serving } from '../helpers/serving.ts';
import { auditLogOf, whyFrom, whyReportFrom, type AuditReport } from './helpers/audit-log.ts';
import { casesIn, pattern } from '../helpers/case-file.ts';
import { everyNth } from '../helpers/sweep.ts';
import { faultsBy } from '../helpers/schemas.ts';

interface Row {
  type: string;
  resource: string;
  list?: { items: KubeObject[] };
  event?: { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: KubeObject };
}

const collections = ['api/v1/pods', 'api/v1/events', 'apis/apps/v1/replicasets', 'apis/apps/v1/deployments'];

/** Brings the server to the end of the recording, with the recorded times instead of today's. */
async function playOut({ server }: Serving, name: string): Promise<void> {
  for (const path of [...collections, 'apis/apps/v1/statefulsets', 'apis/apps/v1/daemonsets', 'apis/batch/v1/jobs']) {
    const { items } = (await (await fetch(`${server.url}/${path}`)).json()) as { items: KubeObject[] };
    for (const one of items) server.write(path.split('/').at(-1) ?? '', 'DELETED', one);
  }
  const rows = readFileSync(scenarioFile(name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
  for (const { type, resource, list, event } of rows) {
    const collection = resource === 'node-events' ? 'events' : resource;
    for (const one of (type === 'list' && list?.items) || []) server.write(collection, 'MODIFIED', one);
    if (type === 'watch' && event && event.type !== 'BOOKMARK') server.write(collection, event.type, event.object);
  }
}

/** Caches a value per key for all tests. */
function once<T>(make: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const made = new Map<string, Promise<T>>();
  return (key) => {
    const one = made.get(key) ?? make(key);
    made.set(key, one);
    return one;
  };
}

const liveExits = once(async (name) => {
  const { stdout } = await runMain(['replay', recordingFile(name), '-o', 'json']);
  return exitsIn(JSON.parse(stdout) as Record<string, unknown>)?.map((exit) => exit as unknown as ExitReport);
});

const liveExit = async (name: string, pod: string): Promise<ExitReport | undefined> =>
  (await liveExits(name))?.find((exit) => exit.pod.name === pod);

/** `why` from an audit log of the recording: with its Events gzipped, without them plain. */
async function fromAuditLog(name: string, withEvents: boolean): Promise<{ pod: string; report: AuditReport }> {
  const { lines, pod, namespace } = auditLogOf(scenarioFile(name), 'RequestResponse', withEvents);
  const text = lines.join('\n');
  return { pod, report: await whyReportFrom(withEvents ? gzipSync(text) : text, pod, namespace) };
}

const fromPackedLog = once((name) => fromAuditLog(name, true));

describe.each(everyNth(6, allNames))('%s, from Events', (name) => {
  it('contradicts nothing in the live report, and says what it cannot know', async () =>
    serving(name, {}, async (one) => {
      await playOut(one, name);
      const { pod } = one.server;
      const { code, stdout, stderr } = await runMain(['why', pod, '-o', 'json', ...one.flags]);
      const hasRun = !['completed', 'pending'].includes(name);
      expect(code).toBe(hasRun ? 0 : 1);
      if (!hasRun) return expect(stdout + stderr).toMatch(/no Event shows an exit/);
      const report = JSON.parse(stdout) as WhyReport;
      const live = await liveExit(name, pod);
      expect(faultsBy('why-report', report)).toEqual([]);
      expect(['unknown', live?.verdict.outcome]).toContain(report.outcome);
      expect(['unknown', live?.trigger.kind]).toContain(report.trigger);
      expect(report.heading).toBe('reconstructed from Events, ±1s');
      expect(report.by).toMatch(/^(a client|the |a rollout|[A-Z][a-zA-Z]+ )/);
      expect(report.owners?.map(({ kind, name: of }) => `${kind} ${of}`)[0]).toBe(
        live?.pod.owner && `${live.pod.owner.kind} ${live.pod.owner.name}`,
      );
      if (report.grace) expect(report.grace.seconds).toBe(live?.grace.effectiveSeconds);
      expect(truthsOf(name).filter((truth) => isBeforeStopping(truth, pod, report))).toEqual([]);
      if (report.grace?.atItsEnd === 'gone') expect(live?.verdict.outcome).not.toBe('killed');
    }));
});

/** Whether a signal was sent before the kubelet started termination according to the Events. */
function isBeforeStopping(truth: ReturnType<typeof truthsOf>[number], pod: string, { moments }: WhyReport): boolean {
  const stopping = moments.find((one) => one.name === 'stopping');
  if ((truth.pod ?? pod) !== pod || !stopping || truth.stop_signal_sent === undefined) return false;
  return Date.parse(truth.stop_signal_sent) < Date.parse(stopping.earliest);
}

it('the instant "stopping" from Events contains the true stop signal', () =>
  serving('sigkill-after-grace', {}, async (one) => {
    await playOut(one, 'sigkill-after-grace');
    const { stdout } = await runMain(['why', one.server.pod, '-o', 'json', ...one.flags]);
    const stopping = (JSON.parse(stdout) as WhyReport).moments.find(({ name }) => name === 'stopping');
    const [truth] = truthsOf('sigkill-after-grace');
    expect(Date.parse(truth?.stop_signal_sent ?? '')).toBeGreaterThanOrEqual(Date.parse(stopping?.earliest ?? ''));
    expect(Date.parse(truth?.stop_signal_sent ?? '')).toBeLessThanOrEqual(Date.parse(stopping?.latest ?? ''));
  }));

interface Case {
  of: string;
  /** POD stands for the pod of the recording. */
  run: string;
  code?: number;
  stdout?: string;
  stderr?: string;
  json?: object;
}

const fields = ['of', 'run', 'code', 'stdout', 'stderr', 'json'] as const;

it.each(casesIn<Case>(new URL('why.yaml', import.meta.url), fields))(
  '%s',
  (_, { of, run, code = 0, stdout = '', stderr = '', json }) =>
    serving(of, {}, async (one) => {
      await playOut(one, of);
      const words = run.split(' ').filter((word) => word !== '');
      const ran = await runMain(['why', ...words.map((word) => word.replace('POD', one.server.pod)), ...one.flags]);
      expect(ran.code).toBe(code);
      expect(ran.stdout).toMatch(pattern(stdout));
      expect(ran.stderr).toMatch(pattern(stderr));
      if (json) expect(JSON.parse(ran.stdout)).toMatchObject(json);
    }),
);

it('a successor that is created before the kubelet stops the pod shows a forced deletion', () =>
  serving('statefulset', {}, async (one) => {
    await playOut(one, 'statefulset');
    const { server, flags } = one;
    const path = `${server.url}/api/v1/namespaces/${server.namespace}/pods/${server.pod}`;
    const next = (await (await fetch(path)).json()) as KubeObject;
    const metadata = { ...next.metadata, creationTimestamp: '2026-11-20T23:04:50Z' };
    server.write('pods', 'MODIFIED', { ...next, metadata });
    const { code, stdout } = await runMain(['why', server.pod, '-o', 'json', '--fail-on', 'forced', ...flags]);
    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'forced' });
  }));

it('a pod name is accepted only if its form fits the controller', () => {
  expect(mayOwn('ReplicaSet', 'checkout-6677656c54', 'checkout-6677656c54-258qr')).toBe(true);
  expect(mayOwn('Deployment', 'checkout', 'checkout-6677656c54-258qr')).toBe(true);
  expect(mayOwn('DaemonSet', 'checkout', 'checkout-6677656c54-258qr')).toBe(false);
  expect(mayOwn('Deployment', 'checkout', 'checkout-api-6677656c54-258qr')).toBe(false);
  expect(mayOwn('StatefulSet', 'db', 'db-10')).toBe(true);
  expect(mayOwn('StatefulSet', 'db', 'db-a-1')).toBe(false);
  expect(mayOwn('Job', 'j'.repeat(60), `${'j'.repeat(58)}258qr`)).toBe(true);
});

it('--from finds the recording of the pod in a folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  writeFileSync(join(folder, 'a.ndjson'), readFileSync(recordingFile('sigkill-after-grace')));
  const words = ['why', 'checkout-6677656c54-258qr', '--from', folder, '-o', 'json', '--fail-on', 'killed'];
  const { code, stdout } = await runMain(words);
  expect(code).toBe(5);
  expect(JSON.parse(stdout)).toMatchObject({ basis: 'recording', outcome: 'killed', exit: { kind: 'ExitReport' } });
});

it('--from with -n explains no pod of another namespace that has the name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  writeFileSync(join(folder, 'a.ndjson'), readFileSync(recordingFile('sigkill-after-grace')));
  const words = ['why', 'checkout-6677656c54-258qr', '--from', folder, '--kubeconfig', '/dev/null', '-n'];
  const other = await runMain([...words, 'shop']);
  expect(other.stdout).toBe('');
  expect(other.stderr).toContain('has an exit of pod "shop/checkout-6677656c54-258qr"');
  expect((await runMain([...words, 'sigkill-after-grace'])).code).toBe(0);
});

it('--from explains the newest of several exits of pods with this name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const recording = readFileSync(recordingFile('sigkill-after-grace'), 'utf8');
  writeFileSync(join(folder, 'a.ndjson'), recording);
  const dayBefore = recording
    .replaceAll('2026-11-20T', '2026-11-19T')
    .replace(/"(at|sentAt|date)":(\d{13})\b/g, (_, field, ms) => `"${field}":${Number(ms) - 86_400_000}`);
  writeFileSync(join(folder, 'b.ndjson'), dayBefore);
  const { stdout } = await runMain(['why', 'checkout-6677656c54-258qr', '--from', folder]);
  expect(stdout).toContain(`from the recording ${join(folder, 'a.ndjson')}`);
  expect(stdout).toMatch(/2026-11-20 UTC\n[\s\S]*SIGTERM sent\n[\s\S]*SIGKILL: grace period[\s\S]*✖ SIGKILLed/);
});

/** Marks of a live report that an audit log cannot show, with the reason in the report. */
const reasons: [marks: RegExp, reason: RegExp][] = [
  [
    /^(acknowledged|stopping(-again)?|stop-signal|kill|prestop-ended)$/,
    /the log contains no Event of the pod|it was removed before/,
  ],
  [/^(exited|containers-done)$/, /it was removed before the kubelet had reported that/],
  [/^(unrouted|endpoint-removed)$/, /when it was taken out of traffic/],
  [/^(replacement|node|kubelet)-/, /its replacement, its node and its logs/],
];

const keyOf = ({ name, subject }: MarkReport): string => (subject === undefined ? name : `${name} of ${subject}`);

function missingWithoutReason(live: ExitReport, report: AuditReport): string[] {
  const found = new Set(report.exit?.marks.map(keyOf));
  // `why` sends no request; the mark `accepted` shows the request in the log.
  const missing = live.marks.filter((mark) => mark.name !== 'requested' && !found.has(keyOf(mark)));
  const isSaid = ({ name }: MarkReport): boolean =>
    reasons.some(([marks, reason]) => marks.test(name) && report.cannotTell.some((text) => reason.test(text)));
  return missing.filter((mark) => !isSaid(mark)).map(keyOf);
}

function truthsMissed(name: string, pod: string, exit: ExitReport | undefined): string[] {
  return truthsOf(name)
    .filter((truth) => truth.pod === undefined || truth.pod === pod)
    .flatMap(({ container, stop_signal_sent, sigkill_sent, exited }) =>
      Object.entries({ 'stop-signal': stop_signal_sent, kill: sigkill_sent, exited }).flatMap(([mark, time]) => {
        const found = exit?.marks.find((one) => one.name === mark && one.subject === container);
        if (time === undefined || !found) return [];
        const at = Date.parse(time);
        const isInside = Date.parse(found.at.earliest) <= at && at <= Date.parse(found.at.latest);
        return isInside ? [] : [`${container} ${mark} ${time} not in ${found.at.earliest} – ${found.at.latest}`];
      }),
    );
}

describe.each(everyNth(6, allNames))('%s, from an audit log', (name) => {
  it.each([
    ['without Events', false],
    ['with Events', true],
  ])(
    'has correct intervals, a reason for each missing mark, and the outcome of the live run or unknown, %s',
    async (_, withEvents) => {
      const { pod, report } = await (withEvents ? fromPackedLog(name) : fromAuditLog(name, false));
      const live = await liveExit(name, pod);
      expect(faultsBy('why-report', report)).toEqual([]);
      expect(['unknown', live?.verdict.outcome]).toContain(report.outcome);
      expect(report.deletedBy?.user ?? 'nobody').toMatch(/^(kubernetes-admin|nobody|system:)/);
      expect(truthsMissed(name, pod, report.exit)).toEqual([]);
      expect(live && missingWithoutReason(live, report)).toEqual([]);
    },
  );

  it('shows the same with the patches of the kubelet instead of the stored pods', async () => {
    const { lines, pod, namespace } = auditLogOf(scenarioFile(name), 'Request of the kubelet', true);
    const report = await whyReportFrom(lines.join('\n'), pod, namespace);
    const { report: full } = await fromPackedLog(name);
    const shown = ({ outcome, exit }: AuditReport) => [
      outcome,
      exit?.containers.map(({ name: of, outcome: how, exit: end }) => [of, how, end?.code]),
      exit?.marks.map(keyOf),
    ];
    expect(shown(report)).toEqual(shown(full));
    // A patch does not hold when the fields were written, which shows how late the server was.
    const narrower = report.exit?.marks.filter((mark, at) => {
      const known = full.exit?.marks[at];
      return known && (mark.at.earliest > known.at.earliest || mark.at.latest < known.at.latest);
    });
    expect(narrower).toEqual([]);
  });

  it('no mark is earlier than the DELETE of the log', async () => {
    const { exit, moments } = (await fromPackedLog(name)).report;
    const since = Date.parse(moments.find((one) => one.name === 'accepted')?.earliest ?? '');
    const own = ['accepted', 'stopping', 'stop-signal', 'kill', 'exited', 'containers-done', 'removed'];
    const older = exit?.marks.filter((mark) => own.includes(mark.name) && Date.parse(mark.at.earliest) < since);
    expect(older?.map((mark) => `${keyOf(mark)} ${mark.at.earliest}`)).toEqual([]);
  });
});

/** A hostile line of an audit log about the pod; the other lines are read. */
interface Hostile {
  /** Merged into an event about the pod. */
  event?: object;
  text?: string;
  /** Said of the line. */
  says?: string;
}

const ofPod = {
  ...{ kind: 'Event', apiVersion: 'audit.k8s.io/v1', stage: 'ResponseComplete', verb: 'patch' },
  objectRef: { resource: 'pods', subresource: 'status', namespace: 'NAMESPACE', name: 'POD' },
  ...{ responseStatus: { code: 200 }, requestReceivedTimestamp: 'TIME', stageTimestamp: 'TIME' },
};
const endpoints = [{ targetRef: { name: 'POD' } }, ...Array.from({ length: 1_000_000 }, () => ({}))];
const objectRef = { resource: 'endpointslices', namespace: 'NAMESPACE', name: 's' };

it.each<[string, Hostile | (() => Hostile)]>([
  ...casesIn<Hostile>(new URL('hostile-audit-lines.yaml', import.meta.url), ['event', 'text', 'says']),
  [
    'a line of 33 MB',
    () => ({ text: `{"POD":"${'x'.repeat(33 * 1024 * 1024)}"}`, says: 'not events of audit.k8s.io' }),
  ],
  ['a million endpoints', () => ({ event: { objectRef, responseObject: { metadata: {}, endpoints } } })],
])('a hostile line of an audit log does not affect other lines: %s', async (_, one) => {
  const { lines, pod, namespace } = auditLogOf(scenarioFile('sigkill-after-grace'));
  const { report: plain } = await fromAuditLog('sigkill-after-grace', false);
  const { event, text, says } = typeof one === 'function' ? one() : one;
  const hostile = (text ?? JSON.stringify({ ...ofPod, ...event }))
    .replaceAll('POD', pod)
    .replaceAll('NAMESPACE', namespace)
    .replaceAll('TIME', '2020-01-01T00:00:00.000000Z');
  const report = await whyReportFrom([hostile, ...lines].join('\n'), pod, namespace);
  expect(report).toMatchObject({ outcome: plain.outcome, summary: plain.summary, deletedBy: plain.deletedBy });
  expect(report.cannotTell.filter((what) => !plain.cannotTell.includes(what)).join()).toMatch(pattern(says ?? '^$'));
  expect(faultsBy('why-report', report)).toEqual([]);
});

it('a truncated gzip file is read up to its end, and reported', async () => {
  const { lines, pod, namespace } = auditLogOf(scenarioFile('sigkill-after-grace'));
  const noise = Array.from({ length: 20_000 }, () => Math.random().toString(36));
  const packed = gzipSync([...lines, ...noise].join('\n'));
  const report = await whyReportFrom(packed.subarray(0, packed.length - 2000), pod, namespace);
  expect(report).toMatchObject({ outcome: 'killed' });
  expect(report.cannotTell).toContain('what 1 file says: the rest, after the place where it breaks off');
});

it('reports the broken lines of an audit log that has no readable line about the pod', () =>
  serving('graceful-exit', {}, async ({ flags }) => {
    const { code, stderr } = await whyFrom('{"web-0"\n{"web-0"\n', 'web-0', 'graceful-exit', flags);
    expect(code).toBe(1);
    expect(stderr).toContain('the audit log cannot tell what 2 lines say: not JSON');
  }));
