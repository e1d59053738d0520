/** `signals`: what is known of a program, an image or a command line, without a cluster. */
import { describe, expect, it } from 'vitest';
import type { KnownProgram, KnownStop } from '../../src/programs/known.ts';
import { runMain } from './helpers/in-process.ts';

const text = async (...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runMain(['signals', ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};

const document = async (...words: string[]) =>
  JSON.parse(await text('-o', 'json', ...words)) as { summary: string; answer: KnownStop; programs: KnownProgram[] };

describe('signals', () => {
  it('lists all programs without an argument', async () => {
    const { programs, summary } = await document();
    expect(summary).toBe(`${programs.length} programs are known`);
    expect(programs.length).toBeGreaterThan(300);
    expect(programs.find(({ name }) => name === 'gunicorn')?.signals['SIGTERM']).toMatchObject({
      does: 'drains',
      limitSeconds: 30,
      limitFrom: '--graceful-timeout',
    });
    expect((await text()).trimEnd().split('\n')).toHaveLength(programs.length + 1);
  });

  it('draws a box at a terminal, and no wider than it', async () => {
    const { stdout } = await runMain(['signals', 'nginx', '--color', 'never'], { columns: 100, env: {} });
    expect(stdout).toContain('┌');
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });
});
