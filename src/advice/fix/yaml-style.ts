/** Prints values in the style of a YAML or JSON document. Pure. */
import { isObject } from '../../model/observe/read.ts';

export interface YamlStyle {
  /** The end of a line. */
  eol: string;
  /** Columns that a map is indented below its key, and the dashes of a list. */
  mapIndent: number;
  dashIndent: number;
  /** A blank inside braces and brackets, as in `{ a: b }`. */
  padding: string;
  /** Of a JSON document. `indent`: undefined if it stands in one line. */
  json?: { indent?: string };
  /** The lines of a list item that has lines already, from its dash on. */
  movedLines?: (item: unknown) => string[] | undefined;
}

export function yamlStyleOf(text: string): YamlStyle {
  const below = (what: string): RegExp =>
    new RegExp(`^( *)(?:- )?["']?[\\w-]+["']?:[^\\S\\n]*(?:#.*)?\\n(?: *#.*\\n)*${what}`, 'm');
  const [, , blanks = '  '] = below('( +)["\']?[\\w-]').exec(text) ?? [];
  const [, key = '', dash = '  '] = below('( *)- ').exec(text) ?? [];
  return {
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    mapIndent: blanks.length,
    dashIndent: dash.length - key.length,
    padding: /[{[] \S/.test(text) ? ' ' : '',
    json: isJson(text) ? { indent: /^\s*[{[]\r?\n([ \t]+)/.exec(text)?.[1] } : undefined,
  };
}

function isJson(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

/** Lines of a map or list that is not empty. */
export const blockLines = (value: unknown, style: YamlStyle): string[] =>
  Array.isArray(value)
    ? value.flatMap((item) => itemLines(item, style))
    : Object.entries(value as object).flatMap(([key, field]) => pairLines(key, field, style));

export function pairLines(key: string, value: unknown, style: YamlStyle): string[] {
  if (!isFilled(value)) return [`${flowText(key, style)}: ${flowText(value, style)}`];
  const indent = ' '.repeat(Array.isArray(value) ? style.dashIndent : style.mapIndent);
  return [`${flowText(key, style)}:`, ...blockLines(value, style).map((line) => indent + line)];
}

export function itemLines(item: unknown, style: YamlStyle): string[] {
  const moved = style.movedLines?.(item);
  if (moved) return moved;
  if (!isFilled(item)) return [`- ${flowText(item, style)}`];
  return blockLines(item, style).map((line, at) => `${at === 0 ? '- ' : '  '}${line}`);
}

export const isFilled = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;

/** A value in one line, or as the document's JSON. `indent`: of the line in which it begins. */
export function flowText(value: unknown, style: YamlStyle, indent = ''): string {
  const { json, padding, eol } = style;
  if (json) return JSON.stringify(value, null, json.indent).replaceAll('\n', eol + indent);
  const inside = (open: string, parts: readonly string[], close: string): string =>
    parts.length === 0 ? open + close : `${open}${padding}${parts.join(', ')}${padding}${close}`;
  if (Array.isArray(value))
    return inside(
      '[',
      value.map((item) => flowText(item, style)),
      ']',
    );
  if (!isObject(value)) return typeof value === 'string' && isPlain(value) ? value : JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, field]) => `${flowText(key, style)}: ${flowText(field, style)}`);
  return inside('{', pairs, '}');
}

/** Text that every reader of YAML 1.1 and 1.2 takes for a string, also inside braces. */
const isPlain = (text: string): boolean =>
  /^[a-z_/$][\w./$-]*$/i.test(text) && !/^(y|n|yes|no|on|off|true|false|null)$/i.test(text);
