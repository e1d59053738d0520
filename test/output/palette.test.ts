import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { StyleFlags, StyleEnv, SymbolName } from '../../src/output/palette.ts';
import { canRepaint, penFor, plainPen, styleOf, symbols } from '../../src/output/palette.ts';

interface Case extends Partial<StyleEnv> {
  flag?: '--ascii' | '--color=always' | '--color=never';
  color?: boolean;
  unicode?: boolean;
}

const cases = parse(readFileSync(new URL('palette.yaml', import.meta.url), 'utf8')) as Record<
  'color' | 'unicode',
  Record<string, Case>
>;

describe.each(['color', 'unicode'] as const)('%s', (what) => {
  it.each(Object.entries(cases[what]))('%s', (_, { flag, env = {}, isTty = true, platform = 'linux', ...wanted }) => {
    const [, color = 'auto'] = (flag ?? '').split('=') as [string, StyleFlags['color']?];
    const style = styleOf({ color, ascii: flag === '--ascii' }, { env, isTty, platform });
    expect(style).toMatchObject(wanted);
    expect(Object.keys(wanted)).toEqual([what]);
  });
});

it('repaints a terminal, but neither a pipe nor a dumb terminal', () => {
  const terminal = { env: { TERM: 'xterm' }, isTty: true, platform: 'linux' };
  expect(canRepaint(terminal)).toBe(true);
  expect(canRepaint({ ...terminal, isTty: false })).toBe(false);
  expect(canRepaint({ ...terminal, env: { TERM: 'dumb' } })).toBe(false);
});

describe('the pen', () => {
  it('writes no escape sequence without colour, and one for every ink but the plain one with it', () => {
    const bright = penFor({ color: true, unicode: true });
    for (const ink of ['strong', 'dim', 'good', 'info', 'warning', 'bad', 'accent'] as const) {
      expect(plainPen.paint(ink, 'x')).toBe('x');
      // oxlint-disable-next-line no-control-regex -- the escape sequences are meant
      expect(bright.paint(ink, 'x')).toMatch(/^\u001b\[\d+mx\u001b\[\d+m$/);
    }
    expect(bright.paint('plain', 'x')).toBe('x');
  });

  it('without Unicode writes its own symbols in ASCII, of one character each, and others as code points', () => {
    const pen = penFor({ color: false, unicode: false });
    for (const name of Object.keys(symbols) as SymbolName[]) expect(pen.symbol(name)).toMatch(/^[!-~]$/);
    expect(pen.letters('a – b · c… → ≥2 ≤3 −1')).toBe('a - b - c... -> >=2 <=3 -1');
    expect(pen.letters('漢🙂')).toBe('\\u{6f22}\\u{1f642}');
    expect(plainPen.letters('漢🙂 – …')).toBe('漢🙂 – …');
  });
});
