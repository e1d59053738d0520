/** Runs `watch` in this process against an embedded API server, until it has printed enough. */
import type { Interrupted } from '../../../src/model/observation.ts';
import { runMain, type Pretending, type Printed } from '../../cli/helpers/in-process.ts';
import { loadRecording } from '../../demo/helpers/load.ts';
import { serving, type Serving } from '../../helpers/serving.ts';

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

/** The same with metrics, which it returns too, as they are once stdout has enough. */
export async function watchAndScrape(argv: readonly string[], isEnough: (stdout: string) => boolean) {
  let [address, stdout] = ['', ''];
  let metrics: Promise<string> | undefined;
  let done = (): void => {};
  const scrape = async (): Promise<string> => (await fetch(address)).text();
  const printed = await watchUntil([...argv, '--metrics', '127.0.0.1:0'], () => false, {
    onStderr: (text) => (address = /http:\/\/\S+\/metrics/.exec(text)?.[0] ?? address),
    onStdout: (text) => {
      stdout += text;
      if (isEnough(stdout)) void (metrics ??= scrape()).finally(done);
    },
    until: new Promise<void>((resolve) => (done = resolve)),
  });
  return { ...printed, metrics: (await metrics) ?? '' };
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
export const playing = <T>(name: string, work: (serving: Serving) => Promise<T>): Promise<T> =>
  serving(name, { attachDelayMs: 3000, scenario: loadRecording(name) }, work);

/** The lines of `-o ndjson` of one type. */
export const linesOf = <T>(stdout: string, type: string): T[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T & { type: string })
    .filter((line) => line.type === type);
