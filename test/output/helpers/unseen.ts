/** Characters that no renderer may print, listed by code point instead of by the pattern under test. */
const ranges: readonly (readonly [number, number])[] = [
  [0x00, 0x09],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0xfffe, 0xffff],
  [0xe0000, 0xe007f],
];

/** The dangerous characters of a text as `U+XXXX`; line feeds come from the renderer itself. */
export function unseenIn(text: string): string[] {
  const found = new Set<string>();
  for (const character of text) {
    const code = character.codePointAt(0)!;
    // Most characters need no search, which saves most of the time.
    if (code >= 0x20 && code < 0x7f) continue;
    if (ranges.some(([from, to]) => code >= from && code <= to)) found.add(`U+${code.toString(16).padStart(4, '0')}`);
  }
  return [...found];
}
