/** A recording is untrusted input. A broken one is replayed or refused with a clear error, and never causes a crash. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PodexitError } from '../../src/errors.ts';
import { openRecorder } from '../../src/recording/recorder.ts';
import { openReplay } from '../../src/run/recorded-run.ts';
import { run } from '../../src/run/run.ts';
import { tracesOfLog } from '../../src/run/traces/traces.ts';
import { reportOf } from '../../src/advice/report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { recordingFile, recordingNames, rawObservationsOf } from '../helpers/recordings.ts';
import { seeded } from '../helpers/seeded.ts';
import type { Random } from './helpers/mutate.ts';
import { mutate, pick } from './helpers/mutate.ts';
import { cases, firstSeed, fuzzTime } from './helpers/rounds.ts';

const folder = mkdtempSync(join(tmpdir(), 'podexit-fuzz-'));

it(
  'replays or refuses any file',
  async () => {
    const files = [...(await Promise.all(recordingNames.map(recordedByRun))), ...recordingNames.map(recordingText)];
    const count = cases(2000);
    const ends = { reports: 0, refusals: 0 };
    for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
      const file = join(folder, 'case.ndjson');
      writeFileSync(file, broken(seeded(seed * 6151), pick(seeded(seed), files)));
      try {
        const { source: rawObservations } = await openReplay(file, () => {});
        if (reportOf(await run({ traces: tracesOfLog(), source: rawObservations, logText: true }))) ends.reports += 1;
      } catch (error) {
        if (!(error instanceof PodexitError)) throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
        ends.refusals += 1;
      }
    }
    rmSync(folder, { recursive: true, force: true });
    process.stdout.write(`fuzzed recordings: ${count} cases, ${ends.reports} reports, ${ends.refusals} refused\n`);
    expect(ends.reports).toBeGreaterThan(0);
    expect(ends.refusals).toBeGreaterThan(0);
  },
  fuzzTime,
);

it('replays a recording with Windows line ends and a byte order mark', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'podexit-fuzz-')), 'case.ndjson');
  writeFileSync(file, `\ufeff${recordingText('graceful-exit').replaceAll('\n', '\r\n')}`);
  const { source: rawObservations } = await openReplay(file, () => {});
  expect(rawObservations).toEqual((await openReplay(recordingFile('graceful-exit'), () => {})).source);
});

it('replays what there is of a recording that was cut in the middle of its last line, and says so', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'podexit-fuzz-')), 'cut.ndjson');
  writeFileSync(file, recordingText('graceful-exit').slice(0, -40));
  const { stdout, stderr } = await runMain(['replay', file, '-o', 'json']);
  expect(stderr).toMatch(/was cut in line \d+: the report covers what was recorded until then/);
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'ExitReport' });
});

/** With fewer fields than the recordings of the tests: a run records only what it may use. */
async function recordedByRun(name: string): Promise<string> {
  const file = join(folder, `${name}.ndjson`);
  const header = { podexit: 1, program: 'test', recorded: '2026-01-01T00:00:00Z', logText: true } as const;
  const recorder = openRecorder(file, header);
  await run({ traces: tracesOfLog(), source: await rawObservationsOf(name), logText: true, record: recorder.write });
  recorder.close();
  return readFileSync(file, 'utf8');
}

const recordingText = (name: string): string => readFileSync(recordingFile(name), 'utf8');

/** Breaks some lines as JSON values, and a few as text. */
function broken(random: Random, text: string): string {
  const lines = text.trimEnd().split('\n');
  return lines
    .map((line, index) => {
      const draw = random();
      if (draw < 0.9) return line;
      if (draw < 0.905) return line.slice(0, Math.floor(random() * line.length));
      if (draw < 0.91 && index > 0) return '';
      return JSON.stringify(mutate(random, JSON.parse(line)));
    })
    .join('\n');
}
