/** The program defines only the flags that its command line uses, and parses the line as if all were defined. */
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { buildProgram, runProgram } from '../../src/cli/main.ts';
import { commandFirst, wordsForCommander } from '../../src/cli/words.ts';

const ports = { env: {}, version: '0', stdout: { write: () => {}, isTty: false } } as never;
const build = (argv?: readonly string[]): Promise<Command> => buildProgram(ports, () => {}, argv);

/** What the command line sets for the program itself. */
async function settings(argv: readonly string[], known?: readonly string[]): Promise<unknown> {
  const program = await build(known);
  program.parseOptions([...commandFirst(wordsForCommander(argv, program), program)]);
  return program.opts();
}

const all = await build();

describe('a program for one command line', () => {
  const flags = all.options.filter(({ long }) => long !== '--version');

  it.each(flags.map((option) => [option.flags, option]))('reads %s like the whole program', async (_, option) => {
    const { long = '', short, required } = option;
    const value = required ? ['7'] : [];
    const lines = [
      ['web-0', long, ...value],
      ...(required ? [['web-0', `${long}=7`]] : []),
      ...(short === undefined
        ? []
        : [
            ['web-0', short, ...value],
            ['web-0', `-y${short.slice(1)}`, ...value],
          ]),
    ];
    for (const line of lines) {
      const expected = await settings(line);
      expect(Object.keys(expected as object)).toContain(option.attributeName());
      expect(await settings(line, line)).toEqual(expected);
    }
  });

  it('has a fraction of the flags', async () => {
    const { options } = await build(['web-0', '-n', 'shop', '-o', 'json']);
    expect(options.map(({ long }) => long)).toEqual(['--version', '--output', '--namespace']);
  });

  it('has all flags and commands if it may be asked for help', async () => {
    for (const line of [[], ['help'], ['web-0', '-yh'], ['options', 'check']])
      expect((await build(line)).options.length).toBe(all.options.length);
  });

  it.each([
    ['--restart=false', "unknown option '--restart' (Did you mean --report?)"],
    ['--inspect=false', "unknown option '--inspect'"],
    ['--atach', "unknown option '--atach' (Did you mean --attach?)"],
    ['--attach=maybe', "option '--attach' takes no value but true or false"],
    // The flag belongs to the command demo, whose name is only a value here.
    ['--list=false -n demo', "unknown option '--list'"],
  ])('refuses %s, with the same hint as the whole program', async (flags, message) => {
    const run = runProgram(['web-0', '--server', 'http://127.0.0.1:1', ...flags.split(' ')], ports);
    await expect(run).rejects.toMatchObject({ code: 'usage.flags', message });
  });
});
