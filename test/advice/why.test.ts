/** `why` over every recording after its pod is gone: from the Events that are left, and from an audit log made of it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/demo/data/kube-object.ts';
import { exitsIn } from '../../src/advice/history/reports.ts';
import type { WhyReport } from '../../src/advice/why/report.ts';
import type { ExitReport, Mark } from '../../src/model/report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { recordingFile, recordingNames, secondSeriesNames, truthsOf } from '../helpers/recordings.ts';
import { serving } from '../helpers/serving.ts';
import type { Serving } from '../helpers/serving.ts';
import { auditLogOf } from './helpers/audit-log.ts';
import { faultsBy } from './helpers/schemas.ts';

const names = [...recordingNames, ...secondSeriesNames];
const scratch = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(scratch, { recursive: true }));

interface WatchRow {
  type: string;
  resource: string;
  event: { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubeObject };
}

/** The server as it is when all of the recording has happened. */
function playOut({ server }: Serving, name: string): void {
  const rows = readFileSync(recordingFile(name), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  for (const row of rows.map((line) => JSON.parse(line) as WatchRow))
    if (row.type === 'watch' && row.event.type !== ('BOOKMARK' as string))
      server.write(row.resource === 'node-events' ? 'events' : row.resource, row.event.type, row.event.object);
}

/** What was made once of a recording, for all that is asked about it. */
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

type AuditReport = WhyReport & { exit?: ExitReport };

/** `why` from an audit log of the recording: packed with its Events, as it is without them. */
async function fromAuditLog(
  name: string,
  withEvents: boolean,
): Promise<{ pod: string; code: number; report: AuditReport }> {
  const { lines, pod, namespace } = auditLogOf(recordingFile(name), 'RequestResponse', withEvents);
  const file = join(scratch, withEvents ? `${name}.log.gz` : `${name}.log`);
  writeFileSync(file, withEvents ? gzipSync(lines.join('\n')) : lines.join('\n'));
  const { code, stdout } = await runMain(['why', pod, '-n', namespace, '--audit-log', file, '-o', 'json']);
  return { pod, code, report: JSON.parse(stdout) as AuditReport };
}

const fromPackedLog = once((name) => fromAuditLog(name, true));

describe.each(names)('%s, from Events', (name) => {
  it('claims no other outcome than the live run, and says what it cannot know', async () =>
    serving(name, {}, async (one) => {
      playOut(one, name);
      const { code, stdout, stderr } = await runMain(['why', one.server.pod, '-o', 'json', ...one.flags]);
      if (code === 1) return expect(stdout + stderr).toMatch(/nothing is known of an exit|is still terminating/);
      const report = JSON.parse(stdout) as WhyReport;
      expect(faultsBy('why-report', report)).toEqual([]);
      expect(['unknown', (await liveExit(name, one.server.pod))?.verdict.outcome]).toContain(report.outcome);
      expect(report.heading).toMatch(/reconstructed from Events, ±1s|from its status/);
    }));
});

it.each([
  ['rolling-update', 'rollout'],
  ['preempted', 'preemption'],
  ['taint-evicted', 'taint'],
])('%s: the Events say that it was a %s', (name, trigger) =>
  serving(name, {}, async (one) => {
    playOut(one, name);
    const { stdout } = await runMain(['why', one.server.pod, '-o', 'json', ...one.flags]);
    expect(JSON.parse(stdout)).toMatchObject({ trigger });
  }),
);

it('the moments of Events hold what the runtime did', () =>
  serving('sigkill-after-grace', {}, async (one) => {
    playOut(one, 'sigkill-after-grace');
    const { stdout } = await runMain(['why', one.server.pod, '-o', 'json', ...one.flags]);
    const stopping = (JSON.parse(stdout) as WhyReport).moments.find(({ name }) => name === 'stopping');
    const [truth] = truthsOf('sigkill-after-grace');
    expect(Date.parse(truth?.stop_signal_sent ?? '')).toBeGreaterThanOrEqual(Date.parse(stopping?.earliest ?? ''));
    expect(Date.parse(truth?.stop_signal_sent ?? '')).toBeLessThanOrEqual(Date.parse(stopping?.latest ?? ''));
  }));

it('without a name: the pods that ended lately', () =>
  serving('rollout-25', {}, async (one) => {
    playOut(one, 'rollout-25');
    const { code, stdout } = await runMain(['why', ...one.flags]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^POD +STOPPED +WHAT\n/);
    expect(stdout).toMatch(/25 pods of namespace rollout-25 stopped lately/);
  }));

it('a pod that never existed is one clear error', () =>
  serving('graceful-exit', {}, async ({ flags }) => {
    const { code, stderr } = await runMain(['why', 'nosuch', ...flags]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/nothing is known of an exit of pod "nosuch" in namespace "graceful-exit"/);
  }));

it('a recording of a folder says what the replay says', async () => {
  const folder = mkdtempSync(join(scratch, 'from-'));
  writeFileSync(join(folder, 'a.ndjson'), readFileSync(recordingFile('sigkill-after-grace')));
  const { code, stdout } = await runMain([
    'why',
    'checkout-6677656c54-258qr',
    '--from',
    folder,
    '-o',
    'json',
    '--fail-on',
    'killed',
  ]);
  expect(code).toBe(5);
  expect(JSON.parse(stdout)).toMatchObject({ basis: 'recording', outcome: 'killed', exit: { kind: 'ExitReport' } });
});

/** What of a live report an audit log cannot hold: the words of the report that say so. */
const reasons: [marks: RegExp, reason: RegExp][] = [
  [
    /^(acknowledged|stopping|stop-signal|kill|prestop-ended)$/,
    /the log holds no Event of the pod|it was removed before/,
  ],
  [/^(exited|containers-done)$/, /it was removed before the kubelet had reported that/],
  [/^(unrouted|endpoint-removed)$/, /the log holds no EndpointSlice/],
  [/^(replacement|node)-/, /its replacement, its node and its logs/],
];

const widthOf = ({ at }: Mark): number => Date.parse(at.latest) - Date.parse(at.earliest);
const keyOf = ({ name, subject }: Mark): string => (subject === undefined ? name : `${name} of ${subject}`);

function missingWithoutReason(live: ExitReport, report: AuditReport): string[] {
  const found = new Set(report.exit?.marks.map(keyOf));
  // Nobody here sends a request; the one of the log is what `accepted` says.
  const missing = live.marks.filter((mark) => mark.name !== 'requested' && !found.has(keyOf(mark)));
  const isSaid = ({ name }: Mark): boolean =>
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

const widths: string[] = [];
afterAll(() => {
  if (process.env['PODEXIT_WIDTHS'] !== undefined) process.stderr.write(`${widths.join('\n')}\n`);
});

describe.each(names)('%s, from an audit log', (name) => {
  it.each([
    ['without Events', false],
    ['with Events', true],
  ])(
    'holds every truth of the runtime within its interval, misses no mark without a reason, and claims no other outcome, %s',
    async (title, withEvents) => {
      const { pod, code, report } = await (withEvents ? fromPackedLog(name) : fromAuditLog(name, false));
      expect(code).toBe(0);
      const live = await liveExit(name, pod);
      expect(faultsBy('why-report', report)).toEqual([]);
      expect(['unknown', live?.verdict.outcome]).toContain(report.outcome);
      expect(report.deletedBy?.user ?? 'nobody').toMatch(/^(kubernetes-admin|nobody|system:)/);
      expect(truthsMissed(name, pod, report.exit)).toEqual([]);
      expect(live && missingWithoutReason(live, report)).toEqual([]);
      const shown = (report.exit?.marks ?? []).map((mark) => `${keyOf(mark)} ${widthOf(mark)}`);
      widths.push(`${name}, ${title}, ${live?.verdict.outcome} → ${report.outcome}, ms: ${shown.join(', ')}`);
    },
  );

  it('nothing of the exit is older than the DELETE of the log', async () => {
    const { exit, moments } = (await fromPackedLog(name)).report;
    const since = Date.parse(moments.find((one) => one.name === 'accepted')?.earliest ?? '');
    const own = ['accepted', 'stopping', 'stop-signal', 'kill', 'exited', 'containers-done', 'removed'];
    const older = exit?.marks.filter((mark) => own.includes(mark.name) && Date.parse(mark.at.earliest) < since);
    expect(older?.map((mark) => `${keyOf(mark)} ${mark.at.earliest}`)).toEqual([]);
  });
});

it('reads a long log, packed or not, without keeping it', async () => {
  const { lines, pod, namespace } = auditLogOf(recordingFile('sigkill-after-grace'));
  const file = join(scratch, 'long.log');
  const noise = Array.from({ length: 20_000 }, (_, at) =>
    JSON.stringify({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      stage: 'ResponseComplete',
      auditID: `id-${at}`,
      verb: 'get',
      objectRef: { resource: 'configmaps', name: `other-${at}`, namespace: 'x' },
      padding: 'x'.repeat(900),
    }),
  );
  writeFileSync(file, [...noise, ...lines, ...noise].join('\n'));
  const before = process.memoryUsage().rss;
  const { stdout } = await runMain(['why', pod, '-n', namespace, '--audit-log', file, '-o', 'json']);
  expect(JSON.parse(stdout)).toMatchObject({ basis: 'audit-log', outcome: 'killed' });
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
});

it('an audit log at level Metadata says who and when, and not how', async () => {
  const { lines, pod, namespace } = auditLogOf(recordingFile('sigkill-after-grace'), 'Metadata');
  const file = join(scratch, 'metadata.log');
  writeFileSync(file, lines.join('\n'));
  const { stdout } = await runMain(['why', pod, '-n', namespace, '--audit-log', file, '-o', 'json']);
  expect(JSON.parse(stdout)).toMatchObject({
    basis: 'audit-log',
    outcome: 'unknown',
    deletedBy: { user: 'kubernetes-admin', userAgent: 'kubectl/v1.36.2', sourceIPs: ['192.0.2.7'], verb: 'delete' },
    cannotTell: ['how its containers exited: the level of the log is below RequestResponse'],
  });
});
