/** Replays of many pods that terminate at once: which new pod replaced which one, and the output if none did. */
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { runMain } from './helpers/in-process.ts';

const replayed = async (name: string, ...flags: string[]): Promise<string> =>
  (await runMain(['replay', recordingFile(name), ...flags])).stdout;

const exitsOf = async (name: string): Promise<ExitReport[]> =>
  (JSON.parse(await replayed(name, '-o', 'json')) as { exits: ExitReport[] }).exits;

const acceptedOf = ({ marks }: ExitReport): string => marks.find(({ name }) => name === 'accepted')?.at.earliest ?? '';

it('25 pods of one rollout do not share replacements, and each replacement was created after the deletion', async () => {
  const paired = (await exitsOf('rollout-25')).filter(({ replacement }) => replacement !== undefined);
  // 25 replicas may surge by 7, so 7 of the new pods are not replacements.
  expect(paired.length).toBeGreaterThanOrEqual(15);
  expect(new Set(paired.map(({ replacement }) => replacement?.uid)).size).toBe(paired.length);
  const early = paired.filter((one) => (one.replacement?.createdAt.latest ?? '') < acceptedOf(one));
  expect(early.map(({ pod }) => pod.name)).toEqual([]);
});

it('40 pods of a scale to 0 are not replaced, no backend is missing, and no row is about capacity', async () => {
  const exits = await exitsOf('scale-to-zero-40');
  expect(exits).toHaveLength(40);
  expect(exits.flatMap(({ replacement }) => replacement?.name ?? [])).toEqual([]);
  const codes = exits.flatMap(({ verdict }) => verdict.findings.map(({ code }) => code));
  expect(codes.filter((code) => ['no-ready-endpoint', 'last-endpoint'].includes(code))).toEqual([]);
  const text = await replayed('scale-to-zero-40');
  expect(text).toContain('40 of 40 pods terminated gracefully');
  expect(text).not.toMatch(/capacity|no ready backend|other endpoints? ready/);
});

it('-o wide has one header and a row for each pod, with columns as wide as their longest value', async () => {
  const [header = '', ...rows] = (await replayed('rollout-25', '-o', 'wide')).trimEnd().split('\n');
  expect(header).toMatch(/^NAME +NODE +OUTCOME +DURATION /);
  expect(rows).toHaveLength(25);
  for (const row of rows) {
    expect(row).toMatch(/^checkout-\S+ +node1 +graceful +/);
    for (const title of ['NODE', 'OUTCOME', 'TRIGGER', 'FINDINGS'])
      expect(row.slice(header.indexOf(title) - 1)).toMatch(/^ \S/);
  }
});
