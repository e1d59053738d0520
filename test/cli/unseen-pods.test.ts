/** Pods whose termination was not observed are named and counted, and the run never exits 0. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RolloutSummary } from '../../src/verdict/rollout.ts';
import { bookmark, json, line, pod, podList, serve, status } from '../kube/helpers/api.ts';
import type { Asked, Handler } from '../kube/helpers/api.ts';
import { testEnv } from '../kube/helpers/env.ts';
import { patientClock } from '../helpers/patient-clock.ts';
import { runMain } from './helpers/in-process.ts';

/** Of the stories and the runs. */
const clock = patientClock(10);

const pods = '/api/v1/namespaces/shop/pods';
const running = { spec: { containers: [{ name: 'app' }] }, status: { phase: 'Running' } };
const web = { ...pod('web-0', '5'), ...running };

const isStreamingList = ({ query }: Asked) => query['sendInitialEvents'] !== undefined;

/** Answers 404 to everything except pods. */
const aboutPods =
  (answer: Handler): Handler =>
  (asked, response, request) =>
    asked.path === pods
      ? answer(asked, response, request)
      : json(response, 404, status(404, 'NotFound', 'it is not there'));

/** The watch is cut, its history is gone, and so is the pod. */
function goneInGap(): Handler {
  let isGone = false;
  return aboutPods((asked, response) => {
    const there = isGone ? [] : [web];
    if (isStreamingList(asked)) {
      there.forEach((one) => response.write(line('ADDED', one)));
      response.write(bookmark(isGone ? '90' : '7', true));
      if (!isGone) clock.setTimeout(() => void ((isGone = true), response.destroy()), 300);
    } else if (asked.query['watch'] === undefined) json(response, 200, podList(isGone ? '90' : '7', there));
    else if (asked.query['resourceVersion'] === '7') json(response, 410, status(410, 'Expired', 'too old'));
  });
}

/** Deleted with grace 0: the watch shows only that it is gone. */
const removedAtOnce = aboutPods((asked, response) => {
  if (!isStreamingList(asked)) return json(response, 200, podList('7', [web]));
  response.write(line('ADDED', web) + bookmark('7', true));
  const forced = { deletionTimestamp: '2031-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
  clock.setTimeout(() => response.write(line('DELETED', { ...pod('web-0', '8', forced), ...running })), 300);
});

const wordsFor = (url: string): string[] => ['-l', 'app=web', '-n', 'shop', '--server', url, '--no-config'];

describe.each([
  [
    'disappeared while the watch was lost',
    goneInGap,
    /web-0: its termination was not observed: it disappeared while the watch .* was lost/,
  ],
  ['was removed at once', () => removedAtOnce, /web-0: its termination was not observed: it was removed at once/],
])('a pod that %s', (_, cluster, sentence) => {
  it('is counted, with exit code 4, and named in the text output', async () => {
    const { url } = await serve(cluster());
    const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'card.txt');
    const ran = await runMain([...wordsFor(url), '--all-terminating', '-o', 'json', '--report', file], { clock });
    expect(ran.stderr).toMatch(sentence);
    const { summary } = JSON.parse(ran.stdout) as { summary: RolloutSummary };
    expect(summary).toMatchObject({ pods: 0, unseen: ['web-0'], exitCode: 4 });
    expect(ran.code).toBe(4);
    const card = readFileSync(file, 'utf8');
    expect(card).toContain('  exits     1 not observed\n  missed    web-0\n');
    expect(card.trimEnd()).toMatch(/\? 0 of 1 pod terminated gracefully, 1 not observed$/);
  });

  it('is reported by --attach, which waits for the next', async () => {
    const { url } = await serve(cluster());
    const ran = await runMain([...wordsFor(url), '--attach', '--timeout=6s'], { clock });
    expect(ran.stderr).toMatch(sentence);
    expect(ran.stderr).toMatch(/no pod of -l app=web in namespace "shop" was being deleted within --timeout/);
    expect(ran.code).toBe(3);
  });
});

it('a pod that only lost its labels has not terminated', async () => {
  const { url } = await serve(
    aboutPods((asked, response) => {
      if (!isStreamingList(asked)) return json(response, 200, podList('7', [web]));
      response.write(line('ADDED', web) + bookmark('7', true));
      clock.setTimeout(() => response.write(line('DELETED', { ...pod('web-0', '8'), ...running })), 300);
    }),
  );
  const ran = await runMain([...wordsFor(url), '--all-terminating', '--timeout=5s', '-o', 'json'], { clock });
  expect((JSON.parse(ran.stdout) as { summary: RolloutSummary }).summary.unseen).toEqual([]);
  expect(ran.stderr).not.toMatch(/was not seen/);
});

describe('without --timeout', () => {
  const still = aboutPods((asked, response) => {
    if (!isStreamingList(asked)) return json(response, 200, podList('7', [web]));
    response.write(line('ADDED', { ...web, spec: { terminationGracePeriodSeconds: 45 } }) + bookmark('7', true));
  });

  it.each([
    ['--attach', /no pod of -l app=web in namespace "shop" was being deleted within 165 s/],
    ['--all-terminating', /no pod of -l app=web was seen to terminate within 165 s/],
  ])('%s in a pipeline gives up 120 s after the longest grace period', async (word, sentence) => {
    const { url } = await serve(still);
    const { now, setTimeout } = testEnv({ speed: 300 });
    const ran = await runMain([...wordsFor(url), word], { clock: { now, setTimeout } });
    expect(ran.stderr).toMatch(sentence);
    expect(ran.stderr).toContain('(the longest grace period, 45 s, plus 120 s)');
    expect(ran.code).toBe(3);
  });
});
