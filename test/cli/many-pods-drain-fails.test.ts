/** The command after -- fails when pods have already terminated: one complete report, then the reason on stderr. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

const directory = mkdtempSync(join(tmpdir(), 'podexit-drain-'));
afterAll(() => rmSync(directory, { recursive: true }));

const failsAfter = (ms: number): string[] => [process.execPath, '-e', `setTimeout(() => process.exit(1), ${ms})`];

const ran = (target: string[], ms: number) =>
  serving('drain-with-pdb', { attachDelayMs: 1500, scenario: loadRecording('second/drain-with-pdb') }, ({ flags }) =>
    runMain([...target, ...flags, '--', ...failsAfter(ms)]),
  );

const rows = [
  ['a drain', ['node/node1']],
  ['a rollout', ['rollout', 'deployment/checkout']],
] as const;

it.concurrent.each(rows)(
  'prints one complete RolloutReport for %s that failed, and the reason on stderr',
  async (_, target) => {
    const { code, stdout, stderr } = await ran([...target, '-o', 'json'], 4500);
    const document = JSON.parse(stdout) as { kind: string; summary: { exitCode: number }; exits: ExitReport[] };
    expect(document).toMatchObject({ kind: 'RolloutReport', summary: { exitCode: 1 } });
    expect(document.exits.length).toBeGreaterThan(0);
    expect(stderr).toMatch(/error: \S+ failed with exit code 1\nIts own output above says why/);
    expect(code).toBe(1);
  },
);

it.concurrent('completes the card, the report files and the recording', async () => {
  const recording = join(directory, 'drain.ndjson');
  const report = join(directory, 'drain.html');
  const { code, stdout } = await ran(['node/node1', `--record=${recording}`, `--report=${report}`], 4500);
  expect(stdout).toMatch(/\d+ of \d+ pods? terminated gracefully/);
  expect(readdirSync(directory).filter((name) => name.endsWith('.html')).length).toBeGreaterThan(0);
  const last = readFileSync(recording, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  expect(() => JSON.parse(last) as object).not.toThrow();
  expect(code).toBe(1);
});
