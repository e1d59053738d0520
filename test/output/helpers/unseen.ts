/** Characters that no renderer may print, listed by code point instead of by the pattern under test. */
const unseen =
  // oxlint-disable-next-line no-control-regex -- they are meant
  /[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e007f}]/gu;

/** The dangerous characters of a text as `U+XXXX`; line feeds come from the renderer itself. */
export const unseenIn = (text: string): string[] =>
  [...new Set(text.match(unseen) ?? [])].map((one) => `U+${one.codePointAt(0)?.toString(16).padStart(4, '0')}`);
