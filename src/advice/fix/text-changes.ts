/**
 * The least changes of the text of a YAML document that make it mean another value. A part that means the same keeps its
 * text, and comments of removed parts are kept. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import { isAlias, isCollection, isMap, isScalar, isSeq, Scalar, visit, type Alias, type Node } from 'yaml';
import { asObject, isObject } from '../../model/observe/read.ts';
import type { Path } from '../container-spec.ts';
import {
  blockEnd,
  columnOf,
  commentsIn,
  contentEnd,
  entriesOf,
  indentAt,
  isBlock,
  isFirstInLine,
  leadingComments,
  lineStart,
  nextLine,
  type Collection,
  type Entry,
  type YamlSource,
} from './yaml-source.ts';
import { blockLines, flowText, isFilled, itemLines, pairLines, type YamlStyle } from './yaml-style.ts';

/** Replaces the text from one offset to another. */
export interface TextChange {
  start: number;
  end: number;
  text: string;
}

interface Work extends YamlSource {
  readonly changes: TextChange[];
  /** What each node with an anchor means afterwards; one that is removed is not in here. */
  readonly anchored: Map<Node, unknown>;
  readonly aliases: { entry: Entry; alias: Alias; wanted: unknown }[];
  /** The values of list items that another list gets: there they keep their text. */
  readonly moved: Map<unknown, Entry>;
}

/** `moved`: list items that another list gets, and the paths of these lists. */
export function valueChanges(
  source: YamlSource,
  before: unknown,
  wanted: unknown,
  moved: readonly { path: Path; to: Path }[] = [],
): TextChange[] {
  const { contents } = source.document;
  const work: Work = { ...source, changes: [], anchored: new Map(), aliases: [], moved: new Map() };
  for (const { path, to } of moved) {
    const list = deepestEntry(contents, to)?.node;
    // Lines do not fit into brackets.
    const isInBrackets = isSeq(list) && list.flow && !deepestEntry(contents, path)?.inFlow;
    if (!isInBrackets) noteItem(work.moved, contents, before, path);
  }
  if (isCollection(contents)) changeCollection(work, contents, before, wanted);
  for (const { entry, alias, wanted: value } of work.aliases) {
    const target = alias.resolve(source.document);
    // Today an alias means what its anchor means, which an edit may have changed.
    if (!target || !isDeepStrictEqual(work.anchored.get(target), value)) replaceInline(work, entry, value);
  }
  return work.changes;
}

/** A comment above the line of the deepest existing part of each path, or of the braces that it is in. */
export function commentChanges(source: YamlSource, comments: readonly { path: Path; why: string }[]): TextChange[] {
  const { text, document, style } = source;
  const above = new Map<number, Set<string>>();
  for (const { path, why } of comments) {
    const entry = deepestEntry(document.contents, path);
    if (!entry && isBlock(document.contents)) continue;
    const start = lineStart(text, entry?.start ?? document.contents?.range[0] ?? 0);
    const comment = `# ${why.replace(/\s+/g, ' ')}`;
    // Above the line of three dashes, it would be a comment of the document before.
    if (text.startsWith('---', start) || text.slice(leadingComments(text, start), start).includes(comment)) continue;
    above.set(start, (above.get(start) ?? new Set()).add(comment));
  }
  return [...above].map(([start, lines]) => {
    return { start, end: start, text: linesText([...lines], indentAt(text, start), style) };
  });
}

function deepestEntry(root: Node | null, path: Path): Entry | undefined {
  const [step, ...rest] = path;
  if (step === undefined || !isBlock(root)) return undefined;
  const entry = entriesOf(root).find(({ key, node }, at) =>
    isMap(root) ? key === step : at === step || (isMap(node) && node.get('name') === step),
  );
  return entry && (deepestEntry(entry.node, rest) ?? entry);
}

function noteItem(moved: Work['moved'], root: Node | null, value: unknown, [step = '', ...rest]: Path): void {
  if (!isCollection(root)) return;
  const entries = entriesOf(root);
  const index = Array.isArray(value)
    ? value.findIndex((item, at) => at === step || asObject(item)['name'] === step)
    : entries.findIndex(({ key }) => key === step);
  const entry = entries[index];
  const child = (value as Record<string | number, unknown>)[isMap(root) ? step : index];
  if (entry && rest.length === 0) moved.set(child, entry);
  else if (entry) noteItem(moved, entry.node, child, rest);
}

function change(work: Work, entry: Entry, before: unknown, wanted: unknown): void {
  const { node } = entry;
  if (isAlias(node)) return void work.aliases.push({ entry, alias: node, wanted });
  if (node?.anchor !== undefined) work.anchored.set(node, wanted);
  if (isCollection(node) && isSameKind(before, wanted) && keepsPart(node, before, wanted))
    // Also if nothing changes: it may contain an alias.
    return changeCollection(work, node, before, wanted);
  if (isDeepStrictEqual(before, wanted)) return;
  if (isBlock(node)) replaceBlock(work, entry, node, wanted);
  else if (isFilled(wanted) && isAloneInLine(work, entry)) replaceByBlock(work, entry, wanted);
  else replaceInline(work, entry, wanted);
}

function keepsPart(collection: Collection, before: unknown, wanted: unknown): boolean {
  return planOf(collection, before, wanted).removed.length < collection.items.length;
}

const isSameKind = (a: unknown, b: unknown): boolean =>
  (Array.isArray(a) && Array.isArray(b)) || (isObject(a) && isObject(b));

interface Plan {
  kept: { entry: Entry; before: unknown; wanted: unknown }[];
  removed: { entry: Entry; before: unknown }[];
  added: { key?: string; value: unknown }[];
}

function planOf(collection: Collection, before: unknown, wanted: unknown): Plan {
  const entries = entriesOf(collection);
  return isMap(collection)
    ? mapPlan(entries, asObject(before), asObject(wanted))
    : listPlan(entries, before as unknown[], wanted as unknown[]);
}

function mapPlan(entries: readonly Entry[], before: Record<string, unknown>, wanted: Record<string, unknown>): Plan {
  const own = entries.flatMap((entry) => (typeof entry.key === 'string' ? [{ entry, key: entry.key }] : []));
  const isOwn = new Set(own.map(({ key }) => key));
  const parts = own.map(({ entry, key }) => ({ entry, before: before[key], wanted: wanted[key] }));
  const added = Object.entries(wanted).filter(
    // A merge key (`<<`) gives the map fields that are not its own.
    ([key, value]) => !isOwn.has(key) && !(key in before && isDeepStrictEqual(before[key], value)),
  );
  return {
    kept: parts.filter((part) => part.wanted !== undefined),
    removed: parts.filter((part) => part.wanted === undefined),
    added: added.map(([key, value]) => ({ key, value })),
  };
}

/** Items of lists that differ in length are the same ones if they have the same name and are in the same order. */
function listPlan(entries: readonly Entry[], before: readonly unknown[], wanted: readonly unknown[]): Plan {
  const names = (list: readonly unknown[]): unknown[] => list.map((item) => asObject(item)['name']);
  const byName = names(before).map((name) => (name === undefined ? -1 : names(wanted).indexOf(name)));
  const kept = byName.filter((index) => index >= 0);
  const isOrdered = before.length !== wanted.length && kept.length > 0 && kept.every((index, at) => index === at);
  const found = isOrdered ? byName : [...before.keys()];
  const parts = entries.map((entry, at) => ({ entry, before: before[at], wanted: wanted[found[at] ?? -1] }));
  return {
    kept: parts.filter((part) => part.wanted !== undefined),
    removed: parts.filter((part) => part.wanted === undefined),
    added: wanted.filter((_, at) => !found.includes(at)).map((value) => ({ value })),
  };
}

function changeCollection(work: Work, collection: Collection, before: unknown, wanted: unknown): void {
  const { kept, removed, added } = planOf(collection, before, wanted);
  if (isMap(collection)) changeMerged(work, collection, asObject(wanted));
  kept.forEach((part) => change(work, part.entry, part.before, part.wanted));
  const entries = entriesOf(collection);
  const isKept = ({ start }: Entry): boolean => removed.every(({ entry }) => entry.start !== start);
  if (collection.flow) {
    if (added.length > 0) addToFlow(work, collection, added);
    removed.forEach(({ entry }) => removeFromFlow(work, entries, entry, entries.find(isKept)));
  } else {
    removeFromBlock(work, removed, entries.find(isKept));
    if (added.length > 0) addToBlock(work, entries, added);
  }
}

/** What a merge key brings stays, except for fields that are not wanted. */
function changeMerged(work: Work, map: Collection, wanted: Record<string, unknown>): void {
  const merges = entriesOf(map).filter(({ key }) => typeof key === 'symbol');
  for (const entry of merges.flatMap((one) => (isSeq(one.node) ? entriesOf(one.node) : one))) {
    const value = asObject(entry.node?.toJS(work.document));
    const left = Object.fromEntries(Object.entries(value).filter(([key]) => key in wanted));
    change(work, entry, value, left);
  }
}

function addToBlock(work: Work, entries: readonly Entry[], added: Plan['added']): void {
  const { text, changes } = work;
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last) return;
  const style = printing(work);
  const lines = added.flatMap(({ key, value }) =>
    key === undefined ? itemLines(value, style) : pairLines(key, value, style),
  );
  const start = blockEnd(text, last);
  changes.push({ start, end: start, text: linesText(lines, ' '.repeat(columnOf(text, first.start)), style) });
}

/** After the last item: in its line, or in a line of its own if that one has one. */
function addToFlow(work: Work, collection: Collection, added: Plan['added']): void {
  const { text, style, changes } = work;
  const last = entriesOf(collection).at(-1);
  if (!last) return;
  const indent = indentAt(text, last.start);
  const end = contentEnd(text, last);
  const [, comma = ''] = /^((?:\s|#.*)*,)/.exec(text.slice(end)) ?? [];
  const parts = added.map(({ key, value }) => {
    const moved = work.moved.get(value);
    const own = moved?.inFlow ? text.slice(moved.start, contentEnd(text, moved)) : flowText(value, style, indent);
    return key === undefined ? own : `${flowText(key, style)}: ${own}`;
  });
  const [, rest] = /^([ \t]*(?:#[^\r\n]*)?)\r?\n/.exec(text.slice(end + comma.length)) ?? [];
  if (!isFirstInLine(text, last.start)) {
    const at = end + comma.length;
    return void changes.push({ start: at, end: at, text: `${comma ? ' ' : ', '}${parts.join(', ')}` });
  }
  if (!comma) changes.push({ start: end, end, text: ',' });
  const at = end + comma.length + (rest?.length ?? 0);
  changes.push({ start: at, end: at, text: parts.map((part) => style.eol + indent + part).join(',') });
}

function removeFromBlock(work: Work, removed: Plan['removed'], kept: Entry | undefined): void {
  const { text, style, changes } = work;
  let done = 0;
  for (const { entry, before } of removed) {
    const { start } = entry;
    if (start < done) continue;
    const column = columnOf(text, start);
    const indent = ' '.repeat(column);
    if (isFirstInLine(text, start)) {
      const isMoved = work.moved.has(before);
      const from = isMoved ? leadingComments(text, lineStart(text, start), column) : lineStart(text, start);
      const to = blockEnd(text, entry);
      const comments = isMoved ? [] : commentsIn(text.slice(from, to), 0);
      changes.push({ start: from, end: to, text: linesText(comments, indent, style) });
    } else if (kept) {
      // It stands beside a dash: the first field that stays takes its place.
      const comments = commentsIn(text.slice(start, kept.start), column);
      changes.push({ start, end: kept.start, text: comments.map((one) => one + style.eol + indent).join('') });
      done = kept.start;
    }
  }
}

function removeFromFlow(work: Work, entries: readonly Entry[], entry: Entry, kept: Entry | undefined): void {
  const { text, style, changes } = work;
  const at = entries.findIndex(({ start }) => start === entry.start);
  const [previous, next] = [entries[at - 1], entries[at + 1]];
  const isAfterKept = previous && kept && kept.start < entry.start;
  const start = isAfterKept ? contentEnd(text, previous) : entry.start;
  const end = isAfterKept || !next ? contentEnd(text, entry) : next.start;
  const comments = commentsIn(text.slice(start, end), columnOf(text, start));
  const indent = indentAt(text, entry.start);
  changes.push({ start, end, text: comments.map((one) => ` ${one}${style.eol}${indent}`).join('') });
}

/** Replaces the lines of a value. */
function replaceBlock(work: Work, entry: Entry, node: Collection, wanted: unknown): void {
  const { text, changes } = work;
  const [first] = entriesOf(node);
  if (!first) return;
  const style = printing(work);
  const end = blockEnd(text, entry);
  const lines = isFilled(wanted) ? blockLines(wanted, style) : [];
  if (isFirstInLine(text, first.start)) {
    const start = lineStart(text, first.start);
    const kept = [...commentsIn(text.slice(start, end), 0), ...lines];
    if (lines.length === 0)
      changes.push({ start: entry.valueStart, end: entry.valueStart, text: ` ${flowText(wanted, style)}` });
    changes.push({ start, end, text: linesText(kept, indentOfValue(work, entry, wanted), style) });
  } else {
    const { start } = first;
    const comments = commentsIn(text.slice(start, end), columnOf(text, start));
    const kept = lines.length > 0 ? [...comments, ...lines] : [flowText(wanted, style), ...comments];
    const indent = ' '.repeat(columnOf(text, start));
    changes.push({ start, end, text: linesText(kept, indent, style).slice(indent.length) });
  }
}

/** The field has a value in its own line, or none, and is not in braces. */
const isAloneInLine = ({ text }: Work, entry: Entry): boolean =>
  !entry.inFlow && entry.key !== undefined && !text.slice(entry.valueStart, contentEnd(text, entry)).includes('\n');

/** Replaces a value by lines below its key. */
function replaceByBlock(work: Work, entry: Entry, wanted: unknown): void {
  const { text, changes } = work;
  const end = contentEnd(text, entry);
  const style = printing(work);
  const lines = linesText(blockLines(wanted, style), indentOfValue(work, entry, wanted), style);
  changes.push({ start: entry.valueStart, end, text: '' });
  changes.push({ start: nextLine(text, end), end: nextLine(text, end), text: lines });
}

function indentOfValue({ text, style }: Work, { start, key }: Entry, value: unknown): string {
  const step = key === undefined ? 2 : Array.isArray(value) ? style.dashIndent : style.mapIndent;
  return ' '.repeat(columnOf(text, start) + step);
}

function replaceInline(work: Work, entry: Entry, wanted: unknown): void {
  const { text, style, changes } = work;
  const { node, valueStart } = entry;
  const end = contentEnd(text, entry);
  const isEmpty = end === valueStart;
  const start = isEmpty ? valueStart : (node?.range?.[0] ?? valueStart);
  const own = quotedLike(node, wanted) ?? flowText(wanted, style, indentAt(text, start));
  // A block text may have a comment in its first line.
  const comments = isScalar(node) ? commentsIn(text.slice(start, end), columnOf(text, start)) : [];
  const after = `${comments.map((one) => ` ${one}`).join('')}${text[end - 1] === '\n' ? style.eol : ''}`;
  changes.push({ start, end, text: `${isEmpty ? ' ' : ''}${own}${after}` });
}

/** Text keeps the quotes of the text before. */
function quotedLike(node: Node | null, wanted: unknown): string | undefined {
  if (typeof wanted !== 'string' || !isScalar(node) || /[^ -~]/.test(wanted)) return undefined;
  if (node.type === Scalar.QUOTE_SINGLE) return `'${wanted.replaceAll("'", "''")}'`;
  return node.type === Scalar.QUOTE_DOUBLE ? JSON.stringify(wanted) : undefined;
}

/** The style of the document, in which an item that moves keeps its lines. */
function printing({ text, style, moved }: Work): YamlStyle {
  const movedLines = (value: unknown): string[] | undefined => {
    const entry = moved.get(value);
    if (!entry) return undefined;
    const column = columnOf(text, entry.start);
    if (entry.inFlow) return `- ${text.slice(entry.start, contentEnd(text, entry))}`.split(/\r?\n/);
    const part = text.slice(leadingComments(text, lineStart(text, entry.start), column), blockEnd(text, entry));
    // Elsewhere an alias may come before its anchor.
    if (hasAnchors(entry.node)) return [...commentsIn(part, 0), ...itemLines(value, style)];
    return part
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .map((line) => line.slice(Math.min(column, line.search(/\S|$/))));
  };
  return { ...style, movedLines };
}

function hasAnchors(node: Node | null): boolean {
  let found = false;
  visit(node, { Node: (_key, one) => void (found ||= isAlias(one) || one.anchor !== undefined) });
  return found;
}

const linesText = (lines: readonly string[], indent: string, { eol }: YamlStyle): string =>
  lines.map((line) => `${line === '' ? '' : indent + line}${eol}`).join('');
