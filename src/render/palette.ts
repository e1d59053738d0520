/**
 * Colours and symbols, and whether a terminal gets them. Colour alone never carries meaning: each ink goes with a word or
 * a symbol. Pure: flags and environment are arguments.
 */
import { Chalk, type ColorSupportLevel } from 'chalk';

/** What a terminal can show. `color` is chalk's level: none, 16, 256 colours, or 16 million. */
export interface Style {
  readonly color: ColorSupportLevel;
  readonly unicode: boolean;
}

/** For files, and if the reader's terminal is unknown. */
export const plainStyle: Style = { color: 0, unicode: true };

export interface StyleFlags {
  readonly color: 'auto' | 'always' | 'never';
  readonly ascii: boolean;
}

export interface StyleEnv {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of the stream that is written to. */
  readonly isTty: boolean;
  /** As in process.platform. */
  readonly platform: string;
}

export function styleOf(flags: StyleFlags, terminal: StyleEnv): Style {
  return { color: colorOf(flags, terminal), unicode: !flags.ascii && canShowUnicode(terminal) };
}

/** In this order: flag, NO_COLOR (set and not empty, see no-color.org), FORCE_COLOR, then kubectl's rule. */
function colorOf({ color }: StyleFlags, { env, isTty, platform }: StyleEnv): ColorSupportLevel {
  if (color === 'never') return 0;
  const best = depthOf(env, platform);
  if (color === 'always') return best;
  if (env['NO_COLOR']) return 0;
  const forced = forcedLevel(env['FORCE_COLOR'], best);
  if (forced !== undefined) return forced;
  if (!isTty || env['TERM'] === 'dumb') return 0;
  // Like kubectl, require Windows Terminal: the old console prints escape sequences as text.
  if (platform === 'win32' && !env['WT_SESSION']) return 0;
  // Viewers of CI logs know sixteen colours, whatever the runner's TERM says.
  return env['CI'] ? 1 : best;
}

/** FORCE_COLOR as Node reads it: empty, `1` and `true` switch on, `2` and `3` name the depth, `0` switches off. */
function forcedLevel(value: string | undefined, best: ColorSupportLevel): ColorSupportLevel | undefined {
  if (value === undefined) return undefined;
  if (value === '0' || value === 'false') return 0;
  if (value === '2' || value === '3') return value === '2' ? 2 : 3;
  return value === '1' ? 1 : best;
}

function depthOf(env: StyleEnv['env'], platform: string): 1 | 2 | 3 {
  if (/^(truecolor|24bit)$/i.test(env['COLORTERM'] ?? '')) return 3;
  if (platform === 'win32' && env['WT_SESSION']) return 3;
  return /256(color)?$/i.test(env['TERM'] ?? '') ? 2 : 1;
}

/** The Linux console has no glyphs for bars; a locale that is set and is not UTF-8 cannot encode them. */
function canShowUnicode({ env, platform }: StyleEnv): boolean {
  if (platform === 'win32') return Boolean(env['WT_SESSION'] ?? env['TERM_PROGRAM'] ?? env['CI']);
  if (env['TERM'] === 'linux') return false;
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'];
  return !locale || /utf-?8/i.test(locale);
}

/** Whether the terminal can be repainted: a dumb one prints cursor movements as text. */
export const canRepaint = ({ env, isTty }: Pick<StyleEnv, 'env' | 'isTty'>): boolean => isTty && env['TERM'] !== 'dumb';

/** The look of a piece of text. */
export type Ink = 'plain' | 'strong' | 'dim' | 'good' | 'info' | 'warning' | 'bad' | 'accent';

/** Each symbol with its replacement of one ASCII character. */
export const symbols = {
  good: ['✔', '+'],
  warning: ['▲', '!'],
  bad: ['✖', 'x'],
  info: ['•', '*'],
  unknown: ['?', '?'],
  none: ['–', '-'],
  /** Bars: certainly there, perhaps there, the rest of the scale. */
  full: ['█', '#'],
  perhaps: ['▒', '~'],
  rest: ['░', '.'],
  bar: ['│', '|'],
  hook: ['▓', '='],
  routed: ['━', '='],
  unrouted: ['╌', '-'],
  answered: ['·', '.'],
  lost: ['┃', '!'],
} as const;
export type SymbolName = keyof typeof symbols;

/** Formats text in a style. */
export interface Pen {
  paint(ink: Ink, text: string): string;
  symbol(name: SymbolName): string;
  /** Replaces characters that the terminal cannot draw. Call it before measuring the text. */
  letters(text: string): string;
  readonly style: Style;
}

export function penFor(style: Style): Pen {
  const chalk = new Chalk({ level: style.color });
  const inks: Record<Ink, (text: string) => string> = {
    plain: (text) => text,
    strong: chalk.bold,
    dim: chalk.dim,
    good: chalk.green,
    info: chalk.blueBright,
    warning: chalk.yellow,
    bad: chalk.red,
    accent: chalk.cyan,
  };
  return {
    paint: (ink, text) => (text === '' ? '' : inks[ink](text)),
    symbol: (name) => symbols[name][style.unicode ? 0 : 1],
    letters: style.unicode ? (text) => text : asAscii,
    style,
  };
}

const spellings: Readonly<Record<string, string>> = {
  '–': '-',
  '−': '-',
  '·': '-',
  '…': '...',
  '→': '->',
  '≥': '>=',
  '≤': '<=',
};

/** Our own signs have a spelling; other characters, from the cluster, are printed as code points. */
const asAscii = (text: string): string =>
  // eslint-disable-next-line no-control-regex -- the whole of ASCII is meant
  text.replace(/[^\u0000-\u007f]/gu, (sign) => spellings[sign] ?? `\\u{${sign.codePointAt(0)?.toString(16)}}`);
