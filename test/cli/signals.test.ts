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
  it('shows of a program what each signal does, the better signal and where that is known from', async () => {
    const shown = await text('nginx');
    expect(shown).toMatch(/^SIGTERM +yes +yes +no +- +0 +nginx ends at once on SIGTERM$/m);
    expect(shown).toMatch(/^SIGQUIT +yes +yes +yes/m);
    expect(shown).toMatch(/^better signal {2}SIGQUIT$/m);
    expect(shown).toMatch(/^known +nginx: measured: nginx \d/m);
  });

  it('shows the own limit of a program, and the setting that changes it', async () => {
    const { answer } = await document('squid');
    expect(answer.signals[0]).toMatchObject({
      signal: 'SIGTERM',
      limitSeconds: 31.5,
      limitFrom: 'shutdown_lifetime',
      probably: false,
    });
    expect(await text('squid')).toMatch(/^limit from +shutdown_lifetime$/m);
  });

  it('takes the stop signal of an image, and what it runs', async () => {
    const { answer } = await document('postgres:16');
    expect(answer).toMatchObject({ image: 'postgres:16', stopSignal: 'SIGINT', isKnown: true });
    expect(answer.chain.at(-1)?.name).toBe('postgres');
  });

  it('follows a command line after --, and names what decides where the image does not show it', async () => {
    const { answer, summary } = await document('--', 'sh', '-c', 'node app.js');
    expect(answer.command).toEqual(['sh', '-c', 'node app.js']);
    expect(answer.signals.map(({ signal }) => signal)).toEqual(['SIGTERM']);
    expect(summary).toMatch(/sh is dash .*only SIGKILL ends it; sh is ash .*gets the signal/);
  });

  it('reads one quoted word as a command line', async () => {
    expect((await document("dash -c 'node app.js'")).answer.command).toEqual(['dash', '-c', 'node app.js']);
    expect((await document('cd /app && node app.js')).answer.command).toEqual(['sh', '-c', 'cd /app && node app.js']);
  });

  it.each([['nosuchprogram'], ['registry.example/team/app:1.2'], ['']])(
    'says that nothing is known of %j',
    async (word) => {
      expect((await text(word)).trim()).toBe(`? nothing is known of ${word}`.trim());
      expect((await document(word)).answer.isKnown).toBe(false);
    },
  );

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

  it('prints no control characters of the command line', async () => {
    expect(await text('--', 'a\u001b[31mb')).not.toContain('\u001b');
  });

  it('offers the programs to a shell', async () => {
    const { stdout } = await runMain(['__complete', 'signals', 'gunic']);
    expect(stdout.split('\n')).toContain('gunicorn');
  });
});
