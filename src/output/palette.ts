/** Colours and symbols, and whether a terminal gets them. Each ink goes with a word or a symbol, never alone. Pure. */
import { Chalk } from 'chalk';
import type { OutputPorts } from './ports.ts';

/** What a terminal can show. Sixteen colours are enough for every ink. */
export interface Style {
  readonly color: boolean;
  readonly unicode: boolean;
  /** Tables have lines: only at a terminal that can draw them. */
  readonly boxes?: boolean;
  /** Absent: yes. */
  readonly bars?: boolean;
}

export interface StyleFlags {
  readonly color: 'auto' | 'always' | 'never';
  readonly ascii: boolean;
  /** For screen readers: no boxes, no bars, nothing that moves. */
  readonly plain?: boolean;
}

export interface StyleEnv {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of the stream that is written to. */
  readonly isTty: boolean;
  /** As in process.platform. */
  readonly platform: string;
}

export function styleOf(flags: StyleFlags, terminal: StyleEnv): Style {
  const { ascii, plain = false } = flags;
  const unicode = !ascii && canShowUnicode(terminal);
  return {
    color: isColored(flags, terminal),
    unicode,
    boxes: terminal.isTty && unicode && !plain,
    bars: !plain,
  };
}

/** In this order: flag, NO_COLOR (set and not empty, see no-color.org), FORCE_COLOR as Node reads it, then kubectl's rule. */
function isColored({ color }: StyleFlags, { env, isTty, platform }: StyleEnv): boolean {
  if (color !== 'auto') return color === 'always';
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  // Like kubectl, require Windows Terminal: the old console prints escape sequences as text.
  return isTty && env['TERM'] !== 'dumb' && (platform !== 'win32' || Boolean(env['WT_SESSION']));
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

export type Ink = 'plain' | 'strong' | 'dim' | 'good' | 'info' | 'warning' | 'bad' | 'accent';

/** Each symbol with its replacement of one ASCII character. */
export const symbols = {
  good: ['✔', '+'],
  warning: ['▲', '!'],
  bad: ['✖', 'x'],
  info: ['•', '*'],
  unknown: ['?', '?'],
  none: ['–', '-'],
  /** Bars: what is there, the rest of the scale. */
  full: ['█', '#'],
  rest: ['░', '.'],
  bar: ['│', '|'],
  hook: ['▓', '='],
  routed: ['━', '='],
  unrouted: ['╌', '-'],
  answered: ['·', '.'],
  lost: ['┃', '!'],
} as const;
export type SymbolName = keyof typeof symbols;

export interface Pen {
  paint(ink: Ink, text: string): string;
  symbol(name: SymbolName): string;
  /** Replaces characters that the terminal cannot draw. Call it before measuring the text. */
  letters(text: string): string;
  readonly style: Style;
}

/** The sixteen colours of the terminal's owner, and no finer ones. `styleOf` has decided whether to paint at all. */
const ink = new Chalk({ level: 1 });

const paints = {
  strong: ink.bold,
  dim: ink.dim,
  good: ink.green,
  info: ink.blueBright,
  warning: ink.yellow,
  bad: ink.red,
  accent: ink.cyan,
} as const;

export const penFor = (style: Style): Pen => ({
  paint: (look, text) => (look === 'plain' || text === '' || !style.color ? text : paints[look](text)),
  symbol: (name) => symbols[name][style.unicode ? 0 : 1],
  letters: style.unicode ? (text) => text : asAscii,
  style,
});

/** For files, and if the reader's terminal is unknown. */
export const plainPen = penFor({ color: false, unicode: true });

/** For stdout. */
export const penOn = (flags: StyleFlags, { stdout, env, platform }: Pick<OutputPorts, 'stdout' | 'env' | 'platform'>) =>
  penFor(styleOf(flags, { env, isTty: stdout.isTty, platform }));

const spellings: Readonly<Record<string, string>> = {
  '–': '-',
  '−': '-',
  '·': '-',
  '…': '...',
  '→': '->',
  '≥': '>=',
  '≤': '<=',
  '≈': '~',
  '±': '+/-',
};

/** Our own signs have a spelling; other characters, from the cluster, are printed as code points. */
const asAscii = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- the whole of ASCII is meant
  text.replace(/[^\u0000-\u007f]/gu, (sign) => spellings[sign] ?? `\\u{${sign.codePointAt(0)?.toString(16)}}`);
