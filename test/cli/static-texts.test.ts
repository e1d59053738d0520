/** The entry prints some texts without loading the bundle. They are the same as the program's. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { bin, root } from '../helpers/built.ts';

const run = (script: string, words: readonly string[], env: Record<string, string> = {}) =>
  node([script, ...words], env);

/** The program without its entry. */
const program = (words: readonly string[]) =>
  node(
    [
      '-e',
      `process.argv.splice(1, 0, 'x'); require('${root}bin/load.js').load('${root}dist/podexit.cjs')`,
      '--',
      ...words,
    ],
    {},
  );

function node(words: readonly string[], env: Record<string, string>) {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

it.each([
  ['--version'],
  ['--help'],
  ['-h'],
  ['completion bash'],
  ['completion zsh'],
  ['completion fish'],
  ['completion powershell'],
])('%s prints the same as the program itself', (line) => {
  const printed = run(bin, line.split(' '));
  expect(printed.stdout.length).toBeGreaterThan(4);
  expect(printed).toEqual(program(line.split(' ')));
});

it('prints `kubectl podexit` if kubectl started it', () => {
  expect(run(bin, ['--help'], { KUBECTL_PATH: '/usr/bin/kubectl' }).stdout).toMatch(/^Usage: kubectl podexit /m);
  expect(run(bin, ['--help']).stdout).toMatch(/^Usage: kubectl-podexit /m);
});

it('leaves other arguments to the program', () => {
  expect(run(bin, ['completion', '../package'])).toMatchObject({ status: 1, stdout: '' });
  expect(run(bin, ['completion', 'tcsh']).stderr).toContain('completion must be one of');
});
