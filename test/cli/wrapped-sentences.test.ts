/** Sentences beside a report are wrapped between words at a terminal. Commands stay in one line, so that they can be copied. */
import { expect, it } from 'vitest';
import { serving } from '../helpers/serving.ts';
import { runMain, pressOnce } from './helpers/in-process.ts';

const sentencesOf = (stderr: string): string[] =>
  stderr.split('\n').filter((line) => !/^(\$ | {2}kubectl )/.test(line));

it('what demo says about a scenario, and what fix leaves to a person', async () => {
  const [atTerminal, inPipe] = [await runMain(['demo', 'fix'], { answers: [] }), await runMain(['demo', 'fix'])];
  for (const line of sentencesOf(atTerminal.stderr)) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(inPipe.stderr).toMatch(/^podexit: fix it by hand: .*\(no-signal-handling\)$/m);
  const words = ({ stderr }: { stderr: string }): string[] => stderr.split(/\s+/).filter((word) => word !== '');
  expect(words(atTerminal)).toEqual(words(inPipe));
});

it('what demo --serve says', async () => {
  let said = '';
  const served = await runMain(['demo', '--serve'], {
    answers: [],
    onStderr: (text) => void (said += text),
    onSignal: pressOnce(() => said.includes('Ctrl-C stops it.')),
  });
  expect(served.stderr).toContain('Ctrl-C stops it.');
  for (const line of sentencesOf(served.stderr)) expect(line.length, line).toBeLessThanOrEqual(80);
});

it('the question before a deletion', () =>
  serving('graceful-exit', {}, async ({ flags, server }) => {
    const { stderr } = await runMain([server.pod, ...flags], { answers: ['n'] });
    const [question = ''] = stderr.split('[y/N] ');
    expect(question).toContain('Owner ReplicaSet/');
    for (const line of question.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  }));
