/** Prints values in the style of a YAML or JSON document. Pure. */
import { Document, visit } from 'yaml';
import { isObject } from '../../model/observe/read.ts';
import { yaml11 } from '../manifests.ts';

export interface YamlStyle {
  /** The end of a line. */
  eol: string;
  /** Columns that a map is indented below its key, and the dashes of a list. */
  mapIndent: number;
  dashIndent: number;
  /** Blanks inside braces and brackets, as in `{ a: b }`. */
  isPadded: boolean;
  /** Of a JSON document. `indent`: undefined if it stands in one line. */
  json?: { indent?: string };
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
    isPadded: /[{[] \S/.test(text),
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
export const blockLines = (value: unknown, { mapIndent, dashIndent }: YamlStyle): string[] =>
  new Document(value, yaml11)
    .toString({ indent: mapIndent, indentSeq: dashIndent > 0, lineWidth: 0 })
    .trimEnd()
    .split('\n');

export const isFilled = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;

/** A value in one line, or as the document's JSON. `indent`: of the line in which it begins. */
export function flowText(value: unknown, { json, isPadded, eol }: YamlStyle, indent = ''): string {
  if (json) return JSON.stringify(value, null, json.indent).replaceAll('\n', eol + indent);
  const document = new Document(value, yaml11);
  visit(document, {
    Collection: (_key, node) => void (node.flow = true),
    Scalar: (_key, node) => void (String(node.value).includes('\n') && (node.type = 'QUOTE_DOUBLE')),
  });
  const inOneLine = { lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity };
  return document.toString({ flowCollectionPadding: isPadded, ...inOneLine }).trimEnd();
}
