import { describe, expect, it } from 'vitest';
import type { Ink, StyleFlags, StyleEnv, SymbolName } from '../../src/output/palette.ts';
import { canRepaint, penFor, styleOf, symbols } from '../../src/output/palette.ts';

const styled = (
  { color = 'auto', ascii = false }: Partial<StyleFlags>,
  { env = {}, isTty = true, platform = 'linux' }: Partial<StyleEnv>,
) => styleOf({ color, ascii }, { env, isTty, platform });

describe('colour is decided once: flag, NO_COLOR, FORCE_COLOR, then the terminal', () => {
  const xterm = { TERM: 'xterm-256color' };
  it.each<[string, Partial<StyleFlags>, Partial<StyleEnv>, boolean]>([
    ['a terminal of 256 colours gets it', {}, { env: xterm }, true],
    ['a plain terminal gets it', {}, { env: { TERM: 'xterm' } }, true],
    ['a terminal of millions of colours gets it', {}, { env: { ...xterm, COLORTERM: 'truecolor' } }, true],
    ['a pipe gets none', {}, { env: xterm, isTty: false }, false],
    ['TERM=dumb gets none', {}, { env: { TERM: 'dumb' } }, false],
    ['NO_COLOR disables it', {}, { env: { ...xterm, NO_COLOR: '1' } }, false],
    ['an empty NO_COLOR counts as not set (no-color.org)', {}, { env: { ...xterm, NO_COLOR: '' } }, true],
    ['NO_COLOR overrides FORCE_COLOR', {}, { env: { ...xterm, NO_COLOR: '1', FORCE_COLOR: '3' } }, false],
    ['FORCE_COLOR enables it in a pipe', {}, { env: { FORCE_COLOR: '1' }, isTty: false }, true],
    ['FORCE_COLOR without a value enables it', {}, { env: { FORCE_COLOR: '' }, isTty: false }, true],
    ['FORCE_COLOR=2 enables it', {}, { env: { FORCE_COLOR: '2' }, isTty: false }, true],
    ['FORCE_COLOR=3 enables it', {}, { env: { FORCE_COLOR: '3' }, isTty: false }, true],
    ['FORCE_COLOR=0 disables it', {}, { env: { ...xterm, FORCE_COLOR: '0' } }, false],
    ['FORCE_COLOR overrides TERM=dumb', {}, { env: { TERM: 'dumb', FORCE_COLOR: '1' } }, true],
    ['--color=always overrides NO_COLOR', { color: 'always' }, { env: { NO_COLOR: '1' }, isTty: false }, true],
    ['--color=never overrides FORCE_COLOR', { color: 'never' }, { env: { ...xterm, FORCE_COLOR: '3' } }, false],
    ['the old Windows console gets none', {}, { platform: 'win32' }, false],
    ['Windows Terminal gets it', {}, { platform: 'win32', env: { WT_SESSION: 'x' } }, true],
    ['a CI job with a terminal gets it', {}, { env: { ...xterm, CI: 'true' } }, true],
    ['a CI job without a terminal gets none', {}, { env: { CI: 'true' }, isTty: false }, false],
  ])('%s', (_title, flags, env, color) => {
    expect(styled(flags, env).color).toBe(color);
  });
});

describe('Unicode is used if the terminal has glyphs for it', () => {
  it.each<[string, Partial<StyleFlags>, Partial<StyleEnv>, boolean]>([
    ['by default', {}, {}, true],
    ['not with --ascii', { ascii: true }, { env: { LANG: 'de_DE.UTF-8' } }, false],
    ['in a UTF-8 locale', {}, { env: { LANG: 'de_DE.UTF-8' } }, true],
    ['in C.utf8', {}, { env: { LC_ALL: 'C.utf8' } }, true],
    ['not in the C locale', {}, { env: { LANG: 'C' } }, false],
    ['LC_ALL overrides LANG', {}, { env: { LC_ALL: 'POSIX', LANG: 'en_US.UTF-8' } }, false],
    ['an empty LC_ALL is ignored', {}, { env: { LC_ALL: '', LANG: 'en_US.UTF-8' } }, true],
    ['not on the kernel’s console', {}, { env: { TERM: 'linux', LANG: 'en_US.UTF-8' } }, false],
    ['not on the old Windows console', {}, { platform: 'win32' }, false],
    ['on Windows Terminal', {}, { platform: 'win32', env: { WT_SESSION: 'x' } }, true],
  ])('%s', (_title, flags, env, unicode) => {
    expect(styled(flags, env).unicode).toBe(unicode);
  });
});

/** The escape sequences around a painted x. */
const sequences = (text: string): string[] => text.split('\u001b').map((part) => part.replace(/\d+m/, 'm'));

it('repaints a terminal, but neither a pipe nor a dumb terminal', () => {
  const terminal = { env: { TERM: 'xterm' }, isTty: true, platform: 'linux' };
  expect(canRepaint(terminal)).toBe(true);
  expect(canRepaint({ ...terminal, isTty: false })).toBe(false);
  expect(canRepaint({ ...terminal, env: { TERM: 'dumb' } })).toBe(false);
});

describe('the pen', () => {
  it('writes no escape sequence without colour, and one for every ink but the plain one with it', () => {
    const inks: Ink[] = ['strong', 'dim', 'good', 'info', 'warning', 'bad', 'accent'];
    for (const ink of inks) {
      expect(penFor({ color: false, unicode: true }).paint(ink, 'x')).toBe('x');
      expect(sequences(penFor({ color: true, unicode: true }).paint(ink, 'x'))).toEqual(['', '[mx', '[m']);
    }
    expect(penFor({ color: true, unicode: true }).paint('plain', 'x')).toBe('x');
  });

  it('has a replacement of one ASCII character for every symbol', () => {
    const pen = penFor({ color: false, unicode: false });
    for (const name of Object.keys(symbols) as SymbolName[]) expect(pen.symbol(name)).toMatch(/^[!-~]$/);
  });

  it('without Unicode writes its own symbols in ASCII, and other characters as code points', () => {
    const pen = penFor({ color: false, unicode: false });
    expect(pen.letters('a – b · c… → ≥2 ≤3 −1')).toBe('a - b - c... -> >=2 <=3 -1');
    expect(pen.letters('漢🙂')).toBe('\\u{6f22}\\u{1f642}');
    expect(penFor({ color: false, unicode: true }).letters('漢🙂 – …')).toBe('漢🙂 – …');
  });
});
