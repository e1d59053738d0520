/** What a watch says, counts and sends while things happen to its pods, as stories.yaml tells them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { reportOf } from '../../src/advice/report.ts';
import { failure } from '../../src/demo/data/status.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { observe } from '../../src/model/observe.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { watchedTraces } from '../../src/watch/traces.ts';
import { casesIn, pattern } from '../helpers/case-file.ts';
import type { Changeable } from './helpers/changeable.ts';
import { linesOf, watchStory } from './helpers/watching.ts';

/** One of these, and about which pod of several with that name. */
interface Step {
  create?: string;
  terminate?: string;
  remove?: string;
  leave?: string;
  uid?: string;
  seconds?: number;
  exitCode?: number;
  /** The pods' watch breaks, and every request about pods gets this answer until it is restored. */
  lose?: { code: number; reason: string; message: string };
  restore?: true;
  printed?: string;
  pause?: number;
}

interface Story {
  pods: string[];
  watch: string;
  story: Step[];
  eventStatus?: number;
  unreadBytes?: number;
  code?: number;
  reports?: string[];
  summary?: object;
  gaps?: string[][];
  /** Parts of the Events, and a pattern of their text. */
  posted?: object[];
  postedText?: string;
  /** Patterns, the last one of neither of them; an empty one: nothing is printed. */
  stdout?: string;
  stderr?: string;
  never?: string;
}

async function happen(server: Changeable, step: Step, printed: (text: string) => Promise<void>): Promise<void> {
  const { create, terminate, remove, leave, uid, seconds = 30, exitCode, lose, restore, pause } = step;
  if (create !== undefined) server.create(create, uid);
  if (terminate !== undefined) server.terminate(terminate, uid, seconds);
  if (remove !== undefined) server.remove(remove, uid, exitCode);
  if (leave !== undefined) server.leave(leave, seconds);
  if (lose) server.lose(failure(lose.code, lose.reason, lose.message));
  if (restore) server.restore();
  if (step.printed !== undefined) await printed(step.printed);
  if (pause !== undefined) await sleep(pause);
}

const stories = casesIn<Story>(new URL('stories.yaml', import.meta.url), [
  ...([
    'pods',
    'watch',
    'story',
    'eventStatus',
    'unreadBytes',
    'code',
    'reports',
    'summary',
    'gaps',
    'posted',
  ] as const),
  ...(['postedText', 'stdout', 'stderr', 'never'] as const),
]);

describe.concurrent('a watch', () => {
  it.each(stories)('%s', async (_, { pods, watch, story, eventStatus, unreadBytes, ...wanted }) => {
    const watched = await watchStory(
      watch.split(' '),
      pods,
      async (server, printed) => {
        for (const step of story) await happen(server, step, printed);
      },
      { ...(eventStatus && { eventStatus }), ...(unreadBytes && { unreadBytes }) },
    );
    const { code, stdout, stderr, posted } = watched;
    if (wanted.code !== undefined) expect(code).toBe(wanted.code);
    if (wanted.stdout === '') expect(stdout).toBe('');
    expect(stderr).toMatch(pattern(wanted.stderr ?? ''));
    expect(`${stdout}${stderr}`).not.toMatch(pattern(wanted.never ?? '^$'));
    const uids = () => linesOf<{ report: ExitReport }>(stdout, 'report').map(({ report }) => report.pod.uid);
    if (wanted.reports) expect(uids().sort()).toEqual(wanted.reports);
    if (wanted.summary) expect(linesOf(stdout, 'watch-summary')).toMatchObject([wanted.summary]);
    if (wanted.posted) expect(posted.map((text) => JSON.parse(text) as object)).toMatchObject(wanted.posted);
    expect(posted.join('\n')).toMatch(pattern(wanted.postedText ?? ''));
    if (!wanted.gaps) return;
    const gaps = linesOf<{ streams: string[]; from: string; to: string }>(stdout, 'watch-gap');
    expect(gaps.map(({ streams }) => streams)).toEqual(wanted.gaps);
    for (const { from, to } of gaps) expect(Date.parse(to) - Date.parse(from)).toBeGreaterThan(150);
  });
});

it('ends within the time of one request if the collector of traces does not answer', async () => {
  const collector = createServer(() => {}).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
  const names = Array.from({ length: 12 }, (_, index) => `web-${index}`);
  const story: Parameters<typeof watchStory>[2] = async (server, printed) => {
    for (const name of names) server.terminate(name);
    for (const name of names) server.remove(name);
    await Promise.all(names.map((name) => printed(`"uid":"${name}"`)));
  };
  const { code, stderr } = await watchStory(['--otlp=always', '-o', 'ndjson'], names, story, { env });
  collector.closeAllConnections();
  collector.close();
  expect(code).toBe(0);
  expect(stderr).toMatch(/podexit: \d+ traces were not sent before the end/);
});

it('a pod that leaves the selection has the outcome unknown when a last look shows that it is gone', () => {
  const traces = watchedTraces(
    false,
    () => {},
    () => {},
  );
  const at = Date.parse('2026-11-28T10:00:00Z');
  const pod = (metadata: object) => ({
    kind: 'Pod',
    metadata: { name: 'web-0', namespace: 'shop', uid: 'u1', creationTimestamp: '2026-11-28T09:00:00Z', ...metadata },
    spec: { containers: [{ name: 'app', image: 'web' }] },
    status: {
      phase: 'Running',
      containerStatuses: [
        { name: 'app', restartCount: 0, ready: true, state: { running: { startedAt: '2026-11-28T09:00:05Z' } } },
      ],
    },
  });
  const deleted = { deletionTimestamp: '2026-11-28T10:00:31Z', deletionGracePeriodSeconds: 30, resourceVersion: '2' };
  const began = { kind: 'began', mode: 'attach', namespace: 'shop', name: '', target: 'namespace/shop' } as const;
  const seen: RawObservation[] = [
    { at, ...began, graceSeconds: null, timeoutSeconds: null, waitReplacement: false },
    { at, kind: 'listed', stream: 'pods', resourceVersion: '1', objects: [pod({ resourceVersion: '1' })] },
    { at: at + 1000, kind: 'changed', stream: 'pods', change: 'MODIFIED', object: pod(deleted) },
    { at: at + 5000, kind: 'gap', stream: 'pods', pod: 'u1', from: at + 5000, cause: 'disconnected' },
    { at: at + 150_000, kind: 'looked', pod: 'u1', sentAt: at + 149_990, object: undefined },
    { at: at + 150_000, kind: 'timer', name: 'timeout', pod: 'u1' },
  ];
  seen.forEach((raw, index) => traces.add(observe(raw, index + 1, { logText: false })));
  const trace = traces.get('u1');
  expect(trace && reportOf(trace)?.verdict.outcome).toBe('unknown');
});
