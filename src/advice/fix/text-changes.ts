/** The least changes of the text of a YAML document that set a field, or move an item to another list; JSON stays JSON. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { Document, isCollection, isMap, isPair, isScalar, Lexer, Scalar, visit } from 'yaml';
import type { CST, Node, YAMLMap, YAMLSeq } from 'yaml';
import { isObject } from '../../model/observe/read.ts';
import type { Path } from '../container-spec.ts';
import { yamlWritten } from '../manifests.ts';
import { childOf } from './edit.ts';

export interface TextChange {
  start: number;
  end: number;
  text: string;
}

/** `wanted`: what the whole document means afterwards. */
export const setChanges = (source: YamlSource, path: Path, wanted: unknown): TextChange[] =>
  setBelow(source, rootOf(source), path, wanted);

/** An item of a block leaves its list with the comments above it, and becomes the last of another block. Else none. */
export function moveChanges(source: YamlSource, path: Path, to: Path): TextChange[] {
  const { text, style } = source;
  const [item, target] = [entryAt(source, path), entryAt(source, to)];
  if (!item || item.inFlow) return [];
  const start = leadingComments(text, lineStart(text, item.start), columnOf(text, item.start));
  const cut = { start, end: blockEnd(text, item), text: '' };
  const own = dedented(text.slice(cut.start, cut.end));
  if (target && isBlock(target.node)) return [cut, ...addLines(source, target.node, own)];
  if (target && isEmpty(target)) return [cut, ...linesBelow(source, target, [item], own)];
  const map = entryAt(source, to.slice(0, -1))?.node ?? null;
  if (target || !isBlock(map)) return [];
  const lines = own.map((line) => ' '.repeat(style.dashIndent) + line);
  return [cut, ...addLines(source, map, [`${to.at(-1)}:`, ...lines])];
}

/** A comment above the line of the deepest existing part of the path, or of the braces that it is in. */
export function commentChanges(source: YamlSource, path: Path, why: string): TextChange[] {
  const { text, document, style } = source;
  const entry = path.map((_, at) => entryAt(source, path.slice(0, at + 1))).findLast((one) => one && !one.inFlow);
  const start = lineStart(text, entry?.start ?? document.contents?.range[0] ?? 0);
  const comment = commentLine(why);
  const isThere = text.slice(leadingComments(text, start), start).includes(comment);
  // Above the line of three dashes, it would be a comment of the document before.
  if ((!entry && isBlock(document.contents)) || text.startsWith('---', start) || isThere) return [];
  return [{ start, end: start, text: linesText([comment], indentAt(text, start), style) }];
}

export const commentLine = (text: string): string => `# ${text.replace(/\s+/g, ' ')}`;

const rootOf = ({ document: { contents } }: YamlSource): Entry => {
  const start = contents?.range[0] ?? 0;
  return { key: undefined, node: contents, start, valueStart: start, inFlow: false };
};

const entryIn = (node: Node | null, step: string | number): Entry | undefined =>
  isCollection(node)
    ? entriesOf(node).find(({ key, node: item }, at) =>
        isMap(node) ? key === step : at === step || (isMap(item) && item.get('name') === step),
      )
    : undefined;

const entryAt = (source: YamlSource, path: Path): Entry | undefined =>
  path.reduce<Entry | undefined>((entry, step) => entry && entryIn(entry.node, step), rootOf(source));

function setBelow(source: YamlSource, entry: Entry, [step, ...rest]: Path, wanted: unknown): TextChange[] {
  const { node } = entry;
  if (step === undefined || !isCollection(node) || node.items.length === 0) return replace(source, entry, wanted);
  const child = entryIn(node, step);
  const value = childOf(wanted, step);
  if (child) return setBelow(source, child, rest, value);
  if (!isMap(node)) return replace(source, entry, wanted);
  if (node.flow) return addToFlow(source, node, `${flowText(step, source.style)}: `, value);
  return addLines(source, node, blockLines({ [step]: value }, source.style));
}

function replace(source: YamlSource, entry: Entry, wanted: unknown): TextChange[] {
  const { text, document, style } = source;
  const { node, inFlow, key } = entry;
  if (node && isDeepStrictEqual(node.toJS(document), wanted)) return [];
  const [first] = isBlock(node) && isFilled(wanted) ? entriesOf(node) : [];
  if (first) {
    // The lines of another map or list, below the comments of the lines before.
    const [start, end] = [lineStart(text, first.start), blockEnd(text, entry)];
    const lines = [...commentsIn(text.slice(start, end), 0), ...blockLines(wanted, style)];
    return [{ start, end, text: linesText(lines, indentBelow(source, entry, wanted), style) }];
  }
  if (!isFilled(wanted) || inFlow || key === undefined || !isEmpty(entry)) return replaceInline(source, entry, wanted);
  return linesBelow(source, entry, wanted, blockLines(wanted, style));
}

function linesBelow(source: YamlSource, entry: Entry, wanted: unknown, lines: readonly string[]): TextChange[] {
  const { text, style } = source;
  const end = contentEnd(text, entry);
  const at = nextLine(text, end);
  const { valueStart } = entry;
  const all = [...commentsIn(text.slice(valueStart, end), columnOf(text, valueStart)), ...lines];
  return [
    { start: valueStart, end, text: '' },
    { start: at, end: at, text: linesText(all, indentBelow(source, entry, wanted), style) },
  ];
}

/** Null, or braces or brackets around nothing. */
const isEmpty = ({ node }: Entry): boolean =>
  node === null || (isScalar(node) && node.value === null) || (isCollection(node) && node.items.length === 0);

const indentBelow = ({ text, style }: YamlSource, { start }: Entry, value: unknown): string =>
  ' '.repeat(columnOf(text, start) + (Array.isArray(value) ? style.dashIndent : style.mapIndent));

function replaceInline({ text, style }: YamlSource, entry: Entry, wanted: unknown): TextChange[] {
  const { node, valueStart } = entry;
  const end = contentEnd(text, entry);
  const isEmpty = end === valueStart;
  const start = isEmpty ? valueStart : (node?.range?.[0] ?? valueStart);
  const own = flowText(wanted, style, indentAt(text, start));
  return [{ start, end, text: `${isEmpty ? ' ' : ''}${own}${text[end - 1] === '\n' ? style.eol : ''}` }];
}

function addLines({ text, style }: YamlSource, node: Collection, lines: readonly string[]): TextChange[] {
  const [first, last] = [entriesOf(node)[0], entriesOf(node).at(-1)];
  if (!first || !last) return [];
  const start = blockEnd(text, last);
  return [{ start, end: start, text: linesText(lines, ' '.repeat(columnOf(text, first.start)), style) }];
}

/** After the last entry in braces or brackets: in its line, or in a line of its own if that one has one. */
function addToFlow({ text, style }: YamlSource, node: Collection, key: string, value: unknown): TextChange[] {
  const last = entriesOf(node).at(-1);
  if (!last) return [];
  const indent = indentAt(text, last.start);
  const end = contentEnd(text, last);
  const own = key + flowText(value, style, indent);
  const [, comma = ''] = /^((?:\s|#.*)*,)/.exec(text.slice(end)) ?? [];
  const after = end + comma.length;
  const isFirst = indent.length === columnOf(text, last.start);
  if (!isFirst) return [{ start: after, end: after, text: `${comma ? ' ' : ', '}${own}` }];
  const [, rest = ''] = /^([ \t]*(?:#[^\r\n]*)?)\r?\n/.exec(text.slice(after)) ?? [];
  const at = after + rest.length;
  return [...(comma ? [] : [{ start: end, end, text: ',' }]), { start: at, end: at, text: style.eol + indent + own }];
}

function dedented(lines: string): string[] {
  const column = /^ *(?=-)/m.exec(lines)?.[0].length ?? 0;
  return lines
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map((line) => line.slice(Math.min(column, line.search(/\S|$/))));
}

const linesText = (lines: readonly string[], indent: string, { eol }: YamlStyle): string =>
  lines.map((line) => `${line === '' ? '' : indent + line}${eol}`).join('');

/** Parsed with `keepSourceTokens`. */
export interface YamlSource {
  readonly text: string;
  readonly document: Document.Parsed;
  readonly style: YamlStyle;
}

type Collection = YAMLMap | YAMLSeq;

type Entry = ReturnType<typeof entriesOf>[number];

function entriesOf(collection: Collection) {
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

const isBlock = (node: Node | null): node is Collection => isCollection(node) && !node.flow;

/** The offset after the last character of an entry's value, without its comment. */
function contentEnd(text: string, { node, valueStart }: Entry): number {
  const last = isBlock(node) ? entriesOf(node).at(-1) : undefined;
  if (last) return contentEnd(text, last);
  const [start, end] = node?.range ?? [0, 0];
  if (start === end) return valueStart;
  const isBlockText = isScalar(node) && (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED);
  const isKept = isBlockText && /^\S*\+/.test(text.slice(start, end));
  return isBlockText && !isKept ? start + text.slice(start, end).trimEnd().length : end;
}

const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/** The start of the next line; the offset itself if a line starts there. */
const nextLine = (text: string, offset: number): number =>
  lineStart(text, offset) === offset ? offset : text.indexOf('\n', offset) + 1;

const columnOf = (text: string, offset: number): number => offset - lineStart(text, offset);

/** The start of the line after an entry of a block, and after the comments below it that are indented deeper. */
function blockEnd(text: string, entry: Entry): number {
  const deeperComments = new RegExp(`(?:(?:[ \\t]*\\r?\\n)* {${columnOf(text, entry.start) + 1},}#.*\\n)*`, 'y');
  deeperComments.lastIndex = nextLine(text, contentEnd(text, entry));
  deeperComments.test(text);
  return deeperComments.lastIndex;
}

const indentAt = (text: string, offset: number): string => {
  const start = lineStart(text, offset);
  return text.slice(start, start + text.slice(start).search(/[^ \t]|$/));
};

/** The start of the comment lines directly above a line, of those that are not indented deeper than `column`. */
function leadingComments(text: string, line: number, column = Infinity): number {
  const above = lineStart(text, line - 1);
  const isComment = line > 0 && text.startsWith('#', above + indentAt(text, above).length);
  return isComment && indentAt(text, above).length <= column ? leadingComments(text, above, column) : line;
}

/** The comments in a part of the text. `column`: where the part begins in its line. */
function commentsIn(part: string, column: number): string[] {
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

const blockLines = (value: unknown, { mapIndent, dashIndent }: YamlStyle): string[] =>
  new Document(value, yamlWritten)
    .toString({ indent: mapIndent, indentSeq: dashIndent > 0, lineWidth: 0 })
    .trimEnd()
    .split('\n');

const isFilled = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;

/** A value in one line, or as the document's JSON. `indent`: of the line in which it begins. */
function flowText(value: unknown, { json, isPadded, eol }: YamlStyle, indent = ''): string {
  if (json) return JSON.stringify(value, null, json.indent).replaceAll('\n', eol + indent);
  const document = new Document(value, yamlWritten);
  visit(document, {
    Collection: (_key, node) => void (node.flow = true),
    Scalar: (_key, node) => void (String(node.value).includes('\n') && (node.type = 'QUOTE_DOUBLE')),
  });
  const inOneLine = { lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity };
  return document.toString({ flowCollectionPadding: isPadded, ...inOneLine }).trimEnd();
}
