/** Every measured fact: a program as PID 1 of its own namespace got a signal; what it did is what podexit says. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tokensOf } from '../../src/programs/shell-words.ts';
import type { StopBehaviour } from '../../src/programs/behaviour.ts';
import { stopBehaviour } from '../../src/programs/stop-behaviour.ts';

/** Scripts that the measurements started by their path. */
const scripts = new Map([
  ['/run.sh', 'app\n'],
  ['./run.sh', 'app\n'],
  ['./nl.sh', 'app'],
  ['./x.sh', 'exec app\n'],
  ['x.sh', '#!/bin/sh\nexec app\n'],
  ['execargs.sh', '#!/bin/sh\nexec "$@"\n'],
]);

interface Fact {
  text: string;
  command: string[];
  image: string;
  signal: string;
  /** `itself`: PID 1 is the program that was measured. */
  application: string;
  reaches: string;
  ends: string;
  code: string;
  finished: string;
  /** From the signal to the end of PID 1, of all its runs; if it went on, how long that was watched. */
  seconds: { least: number; most: number };
}

const factsIn = (name: string): Fact[] =>
  readFileSync(fileURLToPath(new URL(`measured/${name}.tsv`, import.meta.url)), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((text) => {
      const [command = '', image = '', signal = '', application = '', reaches = '', ends = ''] = text.split('\t');
      const [code = '', finished = '', seconds = ''] = text.split('\t').slice(6);
      const [least = NaN, most = least] = seconds.split(' to ').map(Number);
      const words = wordsOf(command);
      return {
        text,
        command: words,
        image,
        signal,
        application,
        reaches,
        ends,
        code,
        finished,
        seconds: { least, most },
      };
    });

/** A newline stands as `\n` in the files. */
function wordsOf(command: string): string[] {
  const words = (tokensOf(command) ?? []).flatMap((token) => (typeof token === 'string' ? [token] : [token.text]));
  return words.map((text) => text.replaceAll('\\n', '\n'));
}

function contradictions(fact: Fact, said: StopBehaviour): string[] {
  const { application, reaches, ends, code, finished, seconds } = fact;
  const { limitSeconds: limit = Infinity, exitCodes } = said;
  const isItself = application === 'itself';
  const { good, cut } = exitCodes;
  const saysSo = isItself ? /\bwaits\b|SIGKILL/ : /\bwaits\b/;
  const goesOnForLong = saysSo.test(textOf(said)) || (limit < Infinity && limit > seconds.most * 0.95);
  // The application that was measured ends on SIGTERM, SIGINT and SIGQUIT only.
  const hasEnd = application === 'handles' && reaches === 'yes' && /^(TERM|INT|QUIT)$/.test(fact.signal);
  const isUpToApplication = application === 'handles' && reaches === 'yes' && !hasEnd;
  const saidEnd = said.handles === 'yes' || (said.handles === 'unknown' && hasEnd && /decides what/.test(said.because));
  // Cut off within moments: whether the application logged the signal before is chance.
  const isRace = ends === 'yes' && said.drains === 'no';
  const isOverLimit = limit < seconds.most * 1.05;
  const codesKnown = good.length + cut.length > 0 && !(said.drains === 'unknown' && good.length === 0);
  const isAtOnce = said.drains === 'no' && limit === Infinity && /at once/.test(said.because);
  return [
    ...(said.handles === 'no' && ends === 'yes' ? ['said that it goes on'] : []),
    ...(saidEnd && ends === 'no' && !goesOnForLong && !isUpToApplication ? ['said that it ends'] : []),
    ...(said.reachesApp === 'yes' && reaches === 'no' && !isRace ? ['said that the signal arrives'] : []),
    ...(said.reachesApp === 'no' && reaches === 'yes' && !isRace ? ['said that the signal does not arrive'] : []),
    ...(said.drains === 'yes' && finished === 'no' && !isOverLimit ? ['said that it finishes'] : []),
    ...(said.drains === 'no' && finished === 'yes' ? ['said that it is cut off'] : []),
    ...(ends === 'yes' && code !== '-' && codesKnown && ![...good, ...cut].includes(Number(code)) ? ['exit code'] : []),
    ...(ends === 'yes' && seconds.most > limit * (isItself ? 1.1 : 2.1) + 1 ? ['its own limit'] : []),
    ...(isAtOnce && ends === 'yes' && seconds.most > 2.8 ? ['said that it ends at once'] : []),
  ];
}

const textOf = ({ because, decidedBy = '' }: StopBehaviour): string => `${because}; ${decidedBy}`;

/** Whether what it says of an unknown answer has what was measured among its outcomes. */
function isNamed({ application, reaches, ends }: Fact, said: StopBehaviour): boolean {
  const { handles, reachesApp, because, decidedBy = because } = said;
  const isUpToApplication = reachesApp === 'yes' && application !== 'no handler' && reaches !== 'no';
  if (reachesApp !== 'unknown' && (handles !== 'unknown' || isUpToApplication)) return true;
  const outcome =
    ends === 'yes'
      ? /\bends?\b|gets the signal|passes the signal|replaces itself|cut off|exit code/
      : /SIGKILL|go(es)? on|drops|stays/;
  const text = textOf(said);
  return decidedBy !== because && outcome.test(ends === 'yes' ? text.replaceAll('SIGKILL ends it', '') : text);
}

/**
 * Which share of a table may be unknown, so that both outcomes are named. shells: the script that a shell reads from its
 * input, what `kill 0` and a loop that asks with `kill -0` do, which process of a pipeline is the application, whether it
 * handles a SIGINT that its shell made it ignore, or a version. wrappers: a version, or a user's login shell. npm: the
 * versions of yarn and pnpm. Some chains were drawn to be hard.
 */
const tables = [
  ['shells', 0.09],
  ['wrappers', 0.09],
  ['programs', 0.01],
  ['npm', 0.25],
  ['chains', 0.08],
] as const;

describe.each(tables)('%s', (name, mostUnknown) => {
  const facts = factsIn(name);
  const answers = facts.map((fact) => ({
    fact,
    said: stopBehaviour({ command: fact.command, image: fact.image, scripts }, fact.signal, 30),
  }));

  it('behave as measured', () => {
    const wrong = answers.flatMap(({ fact, said }) =>
      contradictions(fact, said).map((what) => `${what}: ${fact.text} | ${said.because}`),
    );
    expect(facts.length).toBeGreaterThan(80);
    expect(wrong).toEqual([]);
  });

  it('have what was measured among the outcomes that an unknown answer names', () => {
    const open = answers.filter(({ fact, said }) => !isNamed(fact, said));
    expect(open.map(({ fact, said }) => `${fact.text} | ${said.because}; ${said.decidedBy ?? ''}`)).toEqual([]);
  });

  it('are known but for a few', () => {
    const unknown = answers.filter(({ fact, said }) => fact.reaches !== '-' && said.reachesApp === 'unknown');
    expect(unknown.length / facts.length).toBeLessThan(mostUnknown);
  });
});
