/** Replays of many pods that terminate at once: which new pod replaced which one, and the output if none did. */
import { describe, expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { runMain } from './helpers/in-process.ts';

const replayed = async (name: string, ...flags: string[]): Promise<string> =>
  (await runMain(['replay', `test/recordings/second/${name}.ndjson`, ...flags])).stdout;

const exitsOf = async (name: string): Promise<ExitReport[]> =>
  (JSON.parse(await replayed(name, '-o', 'json')) as { exits: ExitReport[] }).exits;

const acceptedOf = ({ marks }: ExitReport): string => marks.find(({ name }) => name === 'accepted')?.at.earliest ?? '';

describe('25 pods of one rollout', () => {
  it('do not share replacements, and each replacement was created after the deletion', async () => {
    const paired = (await exitsOf('rollout-25')).filter(({ replacement }) => replacement !== undefined);
    // 25 replicas may surge by 7, so 7 of the new pods are not replacements.
    expect(paired.length).toBeGreaterThanOrEqual(15);
    expect(new Set(paired.map(({ replacement }) => replacement?.uid)).size).toBe(paired.length);
    const early = paired.filter((one) => (one.replacement?.createdAt.latest ?? '') < acceptedOf(one));
    expect(early.map(({ pod }) => pod.name)).toEqual([]);
  });
});

describe('40 pods of a scale to 0', () => {
  it('are not replaced, and no backend is missing', async () => {
    const exits = await exitsOf('scale-to-zero-40');
    expect(exits).toHaveLength(40);
    expect(exits.flatMap(({ replacement }) => replacement?.name ?? [])).toEqual([]);
    const codes = exits.flatMap(({ verdict }) => verdict.findings.map(({ code }) => code));
    expect(codes).not.toContain('no-ready-endpoint');
    expect(codes).not.toContain('last-endpoint');
  });

  it('have no row about capacity or about other ready endpoints', async () => {
    const text = await replayed('scale-to-zero-40');
    expect(text).toContain('40 of 40 pods terminated gracefully');
    expect(text).not.toMatch(/capacity|no ready backend|other endpoints? ready/);
  });
});
