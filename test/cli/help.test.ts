/** Help begins with examples and the common flags. The rest is on a separate page. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/verdict/policy.ts';
import { runMain } from './helpers/in-process.ts';

const pageOf = async (...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runMain(words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};

const flagsOf = (page: string): string[] =>
  [...page.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag = '']) => flag);

const commands = [...(await pageOf('--help')).split('Commands:')[1]!.matchAll(/^ {2}([a-z]+) /gm)].map(
  ([, name = '']) => name,
);

it('begins with examples, shows the common flags, and names the command for the others', async () => {
  const page = await pageOf('--help');
  expect(page).toMatch(/^Examples:\n/);
  expect(flagsOf(page).length).toBeLessThanOrEqual(17);
  const rest = Number(/Use "kubectl-podexit options" for (\d+) more flags\./.exec(page)?.[1]);
  expect(flagsOf(await pageOf('options'))).toHaveLength(flagsOf(page).length + rest);
});

it.each(commands.filter((name) => name !== 'options'))(
  '%s begins with examples and has a page of all its flags',
  async (name) => {
    const page = await pageOf(name, '--help');
    expect(page).toMatch(/^Examples:\n/);
    expect(flagsOf(await pageOf('options', name))).toEqual(expect.arrayContaining(flagsOf(page)));
  },
);

it('fits a terminal of 80 columns', async () => {
  for (const words of [['--help'], ['options']])
    expect((await pageOf(...words)).split('\n').filter((line) => line.length > 80)).toEqual([]);
});

it('completion offers every command, and `options` refuses an unknown one', async () => {
  const offered = await pageOf('__complete', 'options', '');
  for (const name of commands) expect(offered).toContain(`${name}\t`);
  expect(await runMain(['options', 'nosuch'])).toMatchObject({ code: 1, stdout: '' });
});

it.each(['README.md', 'the first page'])('%s has the exit code of every outcome', async (where) => {
  const text =
    where === 'README.md'
      ? readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8')
      : await pageOf('--help');
  const rows = [...text.matchAll(/^(?:\|| {2}) ?(\d) +\|?(.*)$/gm)];
  for (const [outcome, code] of Object.entries(exitCodes)) {
    const row = rows.find(([, number]) => Number(number) === code)?.[2] ?? '';
    expect(row.replace(/`/g, '').replace('nothing was running', 'removed').replaceAll(' ', '-'), outcome).toContain(
      outcome,
    );
  }
});
