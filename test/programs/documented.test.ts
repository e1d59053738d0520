/** What documents say of programs that were not measured, and what variables and the image's version change. */
import { expect, it } from 'vitest';
import type { ProgramContainer } from '../../src/programs/behaviour.ts';
import { stopSignalOfImage } from '../../src/programs/rows.ts';
import { casesIn, pattern } from '../helpers/case-file.ts';
import { stopBehaviour } from '../../src/programs/stop-behaviour.ts';

interface Case extends Omit<ProgramContainer, 'command'> {
  /** In words, or with blanks between them. */
  command?: string | string[];
  signal?: string;
  /** s */
  grace?: number;
  /** Whether the signal reaches the application, whether it handles it, and whether it drains: a pattern. */
  answers?: string;
  /** Parts of the answer. */
  part?: object;
  says?: string;
  never?: string;
}

const fields = ['command', 'args', 'image', 'env', 'signal', 'grace', 'answers', 'part', 'says', 'never'] as const;

it.each(casesIn<Case>(new URL('documented.yaml', import.meta.url), fields))('%s', (_, one) => {
  const { command, signal = 'TERM', grace = 300, answers = '', part = {}, says = '', never = '^$', ...rest } = one;
  const container = {
    ...rest,
    ...(command && {
      command: [command].flat().flatMap((words) => (typeof command === 'string' ? words.split(' ') : [words])),
    }),
  };
  const found = stopBehaviour(container, signal, grace);
  const { because, decidedBy, remedy, limitSeconds } = found;
  expect([found.reachesApp, found.handles, found.drains].join(' ')).toMatch(pattern(answers));
  expect(found).toMatchObject(part);
  const said = [because, decidedBy, remedy?.text, `limit ${limitSeconds}`].join('; ');
  expect(said).toMatch(pattern(says));
  expect(said).not.toMatch(pattern(never));
});

it.each([
  ['postgres:12.3', undefined],
  ['postgres:9.4', undefined],
  ['postgres:9.6.18-alpine', undefined],
  ['postgres:12.4', 'SIGINT'],
  ['postgres:12', 'SIGINT'],
  ['postgres:9.6', 'SIGINT'],
  ['postgres:16.3-bookworm', 'SIGINT'],
  ['wordpress:6.6-fpm', 'SIGQUIT'],
  ['nextcloud:30-fpm-alpine', 'SIGQUIT'],
  ['wordpress:6.6', 'SIGWINCH'],
  ['wordpress:cli', undefined],
  ['kong:3.7', 'SIGQUIT'],
  ['apache/apisix:3.9.0-debian', 'SIGQUIT'],
])('knows when %s got its STOPSIGNAL', (image, signal) => {
  expect(stopSignalOfImage(image)).toBe(signal);
});
