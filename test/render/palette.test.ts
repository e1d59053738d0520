import { describe, expect, it } from 'vitest';
import type { Ink, StyleFlags, StyleEnv, SymbolName } from '../../src/render/palette.ts';
import { canRepaint, penFor, styleOf, symbols } from '../../src/render/palette.ts';

const styled = (
  { color = 'auto', ascii = false }: Partial<StyleFlags>,
  { env = {}, isTty = true, platform = 'linux' }: Partial<StyleEnv>,
) => styleOf({ color, ascii }, { env, isTty, platform });

describe('colour is decided once: flag, NO_COLOR, FORCE_COLOR, then the terminal', () => {
  const xterm = { TERM: 'xterm-256color' };
  it.each<[string, Partial<StyleFlags>, Partial<StyleEnv>, number]>([
    ['a terminal gets the depth of its TERM', {}, { env: xterm }, 2],
    ['a plain terminal gets sixteen colours', {}, { env: { TERM: 'xterm' } }, 1],
    ['COLORTERM names millions', {}, { env: { ...xterm, COLORTERM: 'truecolor' } }, 3],
    ['a pipe gets none', {}, { env: xterm, isTty: false }, 0],
    ['TERM=dumb gets none', {}, { env: { TERM: 'dumb' } }, 0],
    ['NO_COLOR switches off', {}, { env: { ...xterm, NO_COLOR: '1' } }, 0],
    ['an empty NO_COLOR is not set, as no-color.org has it', {}, { env: { ...xterm, NO_COLOR: '' } }, 2],
    ['NO_COLOR stands above FORCE_COLOR', {}, { env: { ...xterm, NO_COLOR: '1', FORCE_COLOR: '3' } }, 0],
    ['FORCE_COLOR switches on in a pipe', {}, { env: { FORCE_COLOR: '1' }, isTty: false }, 1],
    ['FORCE_COLOR without a value switches on', {}, { env: { FORCE_COLOR: '' }, isTty: false }, 1],
    ['FORCE_COLOR=2 names the depth', {}, { env: { FORCE_COLOR: '2' }, isTty: false }, 2],
    ['FORCE_COLOR=3 names the depth', {}, { env: { FORCE_COLOR: '3' }, isTty: false }, 3],
    ['FORCE_COLOR=0 switches off', {}, { env: { ...xterm, FORCE_COLOR: '0' } }, 0],
    ['FORCE_COLOR stands above TERM=dumb', {}, { env: { TERM: 'dumb', FORCE_COLOR: '1' } }, 1],
    ['--color=always stands above NO_COLOR', { color: 'always' }, { env: { NO_COLOR: '1' }, isTty: false }, 1],
    ['--color=never stands above FORCE_COLOR', { color: 'never' }, { env: { ...xterm, FORCE_COLOR: '3' } }, 0],
    ['the old Windows console gets none', {}, { platform: 'win32' }, 0],
    ['Windows Terminal gets millions', {}, { platform: 'win32', env: { WT_SESSION: 'x' } }, 3],
    ['a CI with a terminal gets sixteen', {}, { env: { ...xterm, CI: 'true' } }, 1],
    ['a CI without one gets none', {}, { env: { CI: 'true' }, isTty: false }, 0],
  ])('%s', (_title, flags, surroundings, level) => {
    expect(styled(flags, surroundings).color).toBe(level);
  });
});

describe('Unicode is used if the terminal has glyphs for it', () => {
  it.each<[string, Partial<StyleFlags>, Partial<StyleEnv>, boolean]>([
    ['by default', {}, {}, true],
    ['not with --ascii', { ascii: true }, { env: { LANG: 'de_DE.UTF-8' } }, false],
    ['in a UTF-8 locale', {}, { env: { LANG: 'de_DE.UTF-8' } }, true],
    ['in C.utf8', {}, { env: { LC_ALL: 'C.utf8' } }, true],
    ['not in the C locale', {}, { env: { LANG: 'C' } }, false],
    ['LC_ALL stands above LANG', {}, { env: { LC_ALL: 'POSIX', LANG: 'en_US.UTF-8' } }, false],
    ['an empty LC_ALL says nothing', {}, { env: { LC_ALL: '', LANG: 'en_US.UTF-8' } }, true],
    ['not on the kernel’s console', {}, { env: { TERM: 'linux', LANG: 'en_US.UTF-8' } }, false],
    ['not on the old Windows console', {}, { platform: 'win32' }, false],
    ['on Windows Terminal', {}, { platform: 'win32', env: { WT_SESSION: 'x' } }, true],
  ])('%s', (_title, flags, surroundings, unicode) => {
    expect(styled(flags, surroundings).unicode).toBe(unicode);
  });
});

/** The escape sequences of a painted x. */
const sequences = (text: string): string[] => text.split('\u001b').map((part) => part.replace(/\d+m/, 'm'));

it('repaints a terminal, but neither a pipe nor a dumb terminal', () => {
  const surroundings = { env: { TERM: 'xterm' }, isTty: true, platform: 'linux' };
  expect(canRepaint(surroundings)).toBe(true);
  expect(canRepaint({ ...surroundings, isTty: false })).toBe(false);
  expect(canRepaint({ ...surroundings, env: { TERM: 'dumb' } })).toBe(false);
});

describe('the pen', () => {
  it('writes no escape sequence without colour, and one for every ink but the plain one with it', () => {
    const inks: Ink[] = ['strong', 'dim', 'good', 'info', 'warning', 'bad', 'accent'];
    for (const ink of inks) {
      expect(penFor({ color: 0, unicode: true }).paint(ink, 'x')).toBe('x');
      expect(sequences(penFor({ color: 1, unicode: true }).paint(ink, 'x'))).toEqual(['', '[mx', '[m']);
    }
    expect(penFor({ color: 3, unicode: true }).paint('plain', 'x')).toBe('x');
  });

  it('has a replacement of one ASCII character for every symbol', () => {
    const pen = penFor({ color: 0, unicode: false });
    for (const name of Object.keys(symbols) as SymbolName[]) expect(pen.symbol(name)).toMatch(/^[!-~]$/);
  });

  it('spells our own signs and prints code points of other characters without Unicode', () => {
    const pen = penFor({ color: 0, unicode: false });
    expect(pen.letters('a – b · c… → ≥2 ≤3 −1')).toBe('a - b - c... -> >=2 <=3 -1');
    expect(pen.letters('漢🙂')).toBe('\\u{6f22}\\u{1f642}');
    expect(penFor({ color: 0, unicode: true }).letters('漢🙂 – …')).toBe('漢🙂 – …');
  });
});
