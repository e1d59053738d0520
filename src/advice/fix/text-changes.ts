/** The least changes of the text of a YAML document that set a field, or move an item to another list. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isCollection, isMap, isScalar, type Node } from 'yaml';
import type { Path } from '../container-spec.ts';
import { childOf } from './edit.ts';
import {
  blockEnd,
  columnOf,
  commentsIn,
  contentEnd,
  entriesOf,
  indentAt,
  isBlock,
  leadingComments,
  lineStart,
  nextLine,
  type Collection,
  type Entry,
  type YamlSource,
  blockLines,
  flowText,
  isFilled,
  type YamlStyle,
} from './yaml-source.ts';

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
  const entries = path.map((_, at) => entryAt(source, path.slice(0, at + 1)));
  const entry = entries.findLast((one) => one && !one.inFlow);
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
