import stringWidth from 'string-width';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { penFor } from '../../src/output/palette.ts';
import type { Pen } from '../../src/output/palette.ts';
import { clipPieces, flow, piece, plain, shorten, textWidth } from '../../src/output/prose.ts';
import type { Piece } from '../../src/output/prose.ts';

const pen = penFor({ color: false, unicode: true });
const bright = penFor({ color: true, unicode: true });

const clip = (by: Pen, pieces: readonly Piece[], width: number): string =>
  clipPieces(by, pieces, width)
    .map(({ ink, text }) => by.paint(ink, text))
    .join('');

describe('prose', () => {
  it('wraps between words, with a hanging indent', () => {
    const pieces = [plain('  head  '), piece('bad', 'one two three four five six')];
    expect(flow(pen, pieces, { width: 22, hang: 8 })).toEqual(['  head  one two three', '        four five six']);
    expect(flow(pen, pieces, { width: Infinity, hang: 8 })).toEqual(['  head  one two three four five six']);
  });

  it('counts the columns of every character, and of any pair of characters, like string-width', () => {
    // Some at once, as string-width takes long for each text.
    const codes = Array.from({ length: 0x2800 / 16 }, (_, row) => Array.from({ length: 16 }, (_, at) => row * 16 + at));
    const rows = codes.map((row) => row.map((code) => `a${String.fromCharCode(code)}b`).join(''));
    expect(rows.filter((row) => textWidth(row) !== stringWidth(row))).toEqual([]);
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => textWidth(text) === stringWidth(text)));
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => textWidth(text) === stringWidth(text)));
  });

  it('never separates a number from its unit', () => {
    const printed = [plain('for at least 0.57 s, between 5.3 s and 6.7 s; ends in 4 steps')];
    for (let width = 12; width < 60; width++)
      for (const line of flow(pen, printed, { width, hang: 2 })) expect(line).not.toMatch(/^ *s\b|\d$(?<!\b4)/);
    expect(flow(pen, printed, { width: 18, hang: 2 })[0]).toBe('for at least');
    // Unless the line is too short for both.
    expect(flow(pen, [plain('1234567890123 s')], { width: 13, hang: 0 })).toEqual(['1234567890123', 's']);
  });

  it('counts columns, not characters', () => {
    const lines = flow(pen, [plain('漢字漢字漢字漢字 🙂🙂🙂🙂🙂🙂🙂🙂')], { width: 12, hang: 0 });
    expect(lines).toEqual(['漢字漢字漢字', '漢字 🙂🙂🙂', '🙂🙂🙂🙂🙂']);
  });

  it('loses nothing but blanks, never exceeds its width and never ends a line with a blank, for any text', () => {
    const [widths, hangs] = [fc.integer({ min: 4, max: 60 }), fc.integer({ min: 0, max: 30 })];
    const wraps = fc.property(fc.string({ unit: 'grapheme' }), widths, hangs, (text, width, hang) => {
      const lines = flow(bright, [piece('good', text), plain(' end')], { width, hang });
      for (const line of lines) {
        expect(stringWidth(line)).toBeLessThanOrEqual(width);
        expect(line).not.toMatch(/ $/);
      }
      const words = flow(pen, [plain(`${text} end`)], { width, hang }).join('');
      expect(words.replace(/\s/g, '')).toBe(`${text}end`.replace(/\s/g, ''));
    });
    fc.assert(wraps, { numRuns: 100, seed: 5 });
  });

  it('clips to a width with an ellipsis, in colour too', () => {
    expect(clip(pen, [plain('abc'), plain('defgh')], 6)).toBe('abcde…');
    expect(clip(pen, [plain('abc'), plain('def')], 6)).toBe('abcdef');
    expect(clip(pen, [plain('漢字漢字')], 6)).toBe('漢字…');
    expect(stringWidth(clip(bright, [piece('bad', 'x'.repeat(50))], 7))).toBe(7);
    expect(clip(penFor({ color: false, unicode: false }), [plain('abcdefgh')], 6)).toBe('abc...');
  });

  it('shortens a name in the middle, because pods of one owner differ at the end', () => {
    expect(shorten(pen, 'checkout-754699c75f-5qlrp', 13)).toBe('checko…-5qlrp');
    expect(shorten(pen, 'short', 13)).toBe('short');
  });
});
