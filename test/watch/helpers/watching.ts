/** Runs `watch` in this process against an embedded API server, until it has printed enough. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Interrupted } from '../../../src/model/observation.ts';
import { runMain, type Pretending, type Printed } from '../../cli/helpers/in-process.ts';
import { loadRecording } from '../../demo/helpers/load.ts';
import { servingPatiently, type PatientServing } from '../../helpers/serving-patiently.ts';
import type { Fault } from '../../sim/faults/fault.ts';
import { startChangeable, type Changeable } from './changeable.ts';

/** Stops the watch with a signal `until`, or as soon as `isEnough` holds for what stdout has. Returns what it printed. */
export async function watchUntil(
  argv: readonly string[],
  isEnough: (stdout: string) => boolean,
  {
    signal = 'SIGTERM',
    until,
    ...pretending
  }: Pretending & { signal?: Interrupted['signal']; until?: Promise<unknown> } = {},
): Promise<Printed> {
  let stop = (): void => {};
  let stdout = '';
  void until?.then(() => stop());
  return runMain(['watch', ...argv], {
    ...pretending,
    onSignal: (listener) => {
      stop = () => listener(signal);
      return () => {};
    },
    onStdout(text) {
      stdout += text;
      pretending.onStdout?.(text);
      if (isEnough(stdout)) setImmediate(() => stop());
    },
  });
}

/**
 * Watches a server with these pods from when the watch has begun until the story is over. `printed` waits until stdout or
 * stderr has the text.
 */
export async function watchStory(
  words: readonly string[],
  pods: readonly string[],
  story: (server: Changeable, printed: (text: string) => Promise<void>) => unknown,
  { eventStatus = 201, ...pretending }: Pretending & { eventStatus?: number } = {},
) {
  const server = await startChangeable(eventStatus);
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig());
  for (const name of pods) server.create(name);
  let all = '';
  const waiting = new Set<() => void>();
  const take = (text: string): void => {
    all += text;
    waiting.forEach((look) => look());
  };
  const printed = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => void (all.includes(text) && resolve());
      waiting.add(look);
      look();
    });
  const until = printed('; Ctrl-C prints a summary').then(() => story(server, printed));
  const flags = ['-n', server.namespace, '--kubeconfig', kubeconfig];
  const watched = await watchUntil([...flags, ...words], () => false, {
    ...{ ...pretending, onStdout: take, onStderr: take, until },
  });
  await server.close();
  return { ...watched, posted: server.posted };
}

/** The same with metrics: what each path answers once stdout has enough, as its status and its text. */
export async function watchAndScrape(argv: readonly string[], isEnough: (stdout: string) => boolean) {
  let [address, stdout] = ['', ''];
  let scraped: Promise<(readonly [path: string, status: number, text: string])[]> | undefined;
  let done = (): void => {};
  const scrape = async (path: string) => {
    const answer = await fetch(`${address}${path}`);
    return [path, answer.status, await answer.text()] as const;
  };
  const printed = await watchUntil([...argv, '--metrics', '127.0.0.1:0'], () => false, {
    onStderr: (text) => (address = /http:\/\/\S+(?=\/metrics)/.exec(text)?.[0] ?? address),
    onStdout: (text) => {
      stdout += text;
      if (!isEnough(stdout)) return;
      scraped ??= Promise.all(['/metrics', '/readyz', '/healthz', '/other'].map(scrape));
      void scraped.finally(done);
    },
    until: new Promise<void>((resolve) => (done = resolve)),
  });
  const answers = (await scraped) ?? [];
  return { ...printed, answers: answers.map(([path, status]) => `${path} ${status}`), metrics: answers[0]?.[2] ?? '' };
}

/** The values of a metric, by the text of its labels. */
export const valuesOf = (metrics: string, name: string): Record<string, number> =>
  Object.fromEntries(
    [...metrics.matchAll(new RegExp(`^${name}(\\{.*\\})? (\\S+)$`, 'gm'))].map(([, labels = '', value]) => [
      labels,
      Number(value),
    ]),
  );

/** Plays a recording while `work` watches it. */
export const playing = <T>(
  name: string,
  work: (serving: PatientServing) => Promise<T>,
  faults: Fault[] = [],
): Promise<T> => servingPatiently(name, { attachDelayMs: 3000, scenario: loadRecording(name), faults }, work);

/** The lines of `-o ndjson` of one type. */
export const linesOf = <T>(stdout: string, type: string): T[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T & { type: string })
    .filter((line) => line.type === type);
