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
  /** That of the image, or `none`. */
  stopSignal?: string;
  /** s */
  grace?: number;
  /** Whether the signal reaches the application, whether it handles it, and whether it drains: a pattern. */
  answers?: string;
  /** Parts of the answer. */
  part?: object;
  says?: string;
  never?: string;
}

const fields = [
  'command',
  'args',
  'image',
  'env',
  'signal',
  'grace',
  'stopSignal',
  'answers',
  'part',
  'says',
  'never',
] as const;

it.each(casesIn<Case>(new URL('documented.yaml', import.meta.url), fields))('%s', (_, one) => {
  const {
    command,
    signal = 'TERM',
    grace = 300,
    stopSignal,
    answers = '',
    part = {},
    says = '',
    never = '^$',
    ...rest
  } = one;
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
  if (stopSignal) expect(stopSignalOfImage(one.image) ?? 'none').toBe(stopSignal);
});
