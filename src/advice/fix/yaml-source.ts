/** Where the parts of a parsed YAML document stand in its text, and how its author writes YAML or JSON. Pure. */
import { Document, isCollection, isPair, isScalar, Lexer, Scalar, visit } from 'yaml';
import type { CST, Node, YAMLMap, YAMLSeq } from 'yaml';
import { isObject } from '../../model/observe/read.ts';
import { yamlWritten } from '../manifests.ts';

/** Parsed with `keepSourceTokens`. */
export interface YamlSource {
  readonly text: string;
  readonly document: Document.Parsed;
  readonly style: YamlStyle;
}

export type Collection = YAMLMap | YAMLSeq;

export type Entry = ReturnType<typeof entriesOf>[number];

export function entriesOf(collection: Collection) {
  const { items: tokens } = collection.srcToken as CST.BlockMap | CST.BlockSequence | CST.FlowCollection;
  return (collection.items as unknown[]).map((item, at) => {
    const { start: before, key, sep = [] } = tokens[at] ?? { start: [] };
    const node = (isPair(item) ? item.value : item) as Node | null;
    const first = before.find(({ type }) => !isBetween(type)) ?? key;
    const marks = [...before, ...sep]
      .filter(({ type }) => !isBetween(type))
      .map((mark) => mark.offset + mark.source.length);
    const keyNode = isPair(item) ? (item.key as Scalar) : undefined;
    return {
      /** In a map; of a merge key (`<<`) a symbol. */
      key: typeof keyNode?.value === 'symbol' ? keyNode.value : keyNode && String(keyNode.value),
      node,
      /** The offset of its key, of its dash, or of an item in brackets. */
      start: first?.offset ?? node?.range?.[0] ?? 0,
      /** The offset after the colon or dash, and after an anchor or tag. */
      valueStart: Math.max(...marks, keyNode?.range?.[1] ?? 0),
      inFlow: collection.flow === true,
    };
  });
}

const isBetween = (type: string): boolean => ['space', 'newline', 'comment', 'comma'].includes(type);

export const isBlock = (node: Node | null): node is Collection => isCollection(node) && !node.flow;

/** The offset after the last character of an entry's value, without its comment. */
export function contentEnd(text: string, { node, valueStart }: Entry): number {
  const last = isBlock(node) ? entriesOf(node).at(-1) : undefined;
  if (last) return contentEnd(text, last);
  const [start, end] = node?.range ?? [0, 0];
  if (start === end) return valueStart;
  const isBlockText = isScalar(node) && (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED);
  const isKept = isBlockText && /^\S*\+/.test(text.slice(start, end));
  return isBlockText && !isKept ? start + text.slice(start, end).trimEnd().length : end;
}

export const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/** The start of the next line; the offset itself if a line starts there. */
export const nextLine = (text: string, offset: number): number =>
  lineStart(text, offset) === offset ? offset : text.indexOf('\n', offset) + 1;

export const columnOf = (text: string, offset: number): number => offset - lineStart(text, offset);

/** The start of the line after an entry of a block, and after the comments below it that are indented deeper. */
export function blockEnd(text: string, entry: Entry): number {
  const deeperComments = new RegExp(`(?:(?:[ \\t]*\\r?\\n)* {${columnOf(text, entry.start) + 1},}#.*\\n)*`, 'y');
  deeperComments.lastIndex = nextLine(text, contentEnd(text, entry));
  deeperComments.test(text);
  return deeperComments.lastIndex;
}

export const indentAt = (text: string, offset: number): string => {
  const start = lineStart(text, offset);
  return text.slice(start, start + text.slice(start).search(/[^ \t]|$/));
};

/** The start of the comment lines directly above a line, of those that are not indented deeper than `column`. */
export function leadingComments(text: string, line: number, column = Infinity): number {
  const above = lineStart(text, line - 1);
  const isComment = line > 0 && text.startsWith('#', above + indentAt(text, above).length);
  return isComment && indentAt(text, above).length <= column ? leadingComments(text, above, column) : line;
}

/** The comments in a part of the text. `column`: where the part begins in its line. */
export function commentsIn(part: string, column: number): string[] {
  const lexemes = [...new Lexer().lex(' '.repeat(column) + part)];
  // The lexer writes this character before a scalar, which can begin with # too.
  return lexemes.filter((one, at) => one.startsWith('#') && lexemes[at - 1] !== '\x1f').map((one) => one.trimEnd());
}

export type YamlStyle = ReturnType<typeof yamlStyleOf>;

export function yamlStyleOf(text: string) {
  const below = (what: string): RegExp =>
    new RegExp(`^( *)(?:- )?["']?[\\w-]+["']?:[^\\S\\n]*(?:#.*)?\\n(?: *#.*\\n)*${what}`, 'm');
  const [, , blanks = '  '] = below('( +)["\']?[\\w-]').exec(text) ?? [];
  const [, key = '', dash = '  '] = below('( *)- ').exec(text) ?? [];
  return {
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    /** Columns that a map is indented below its key, and the dashes of a list. */
    mapIndent: blanks.length,
    dashIndent: dash.length - key.length,
    /** Blanks inside braces and brackets, as in `{ a: b }`. */
    isPadded: /[{[] \S/.test(text),
    /** Of a JSON document. `indent`: undefined if it stands in one line. */
    json: /^\s*[{[]\s*["{[]/.test(text) ? { indent: /^\s*[{[]\r?\n([ \t]+)/.exec(text)?.[1] } : undefined,
  };
}

export const blockLines = (value: unknown, { mapIndent, dashIndent }: YamlStyle): string[] =>
  new Document(value, yamlWritten)
    .toString({ indent: mapIndent, indentSeq: dashIndent > 0, lineWidth: 0 })
    .trimEnd()
    .split('\n');

export const isFilled = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;

/** A value in one line, or as the document's JSON. `indent`: of the line in which it begins. */
export function flowText(value: unknown, { json, isPadded, eol }: YamlStyle, indent = ''): string {
  if (json) return JSON.stringify(value, null, json.indent).replaceAll('\n', eol + indent);
  const document = new Document(value, yamlWritten);
  visit(document, {
    Collection: (_key, node) => void (node.flow = true),
    Scalar: (_key, node) => void (String(node.value).includes('\n') && (node.type = 'QUOTE_DOUBLE')),
  });
  const inOneLine = { lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity };
  return document.toString({ flowCollectionPadding: isPadded, ...inOneLine }).trimEnd();
}
