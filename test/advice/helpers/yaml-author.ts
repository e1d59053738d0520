/** Writes manifests as people do, each line with the path of what it says: styles, comments, anchors, several documents. */
import type { Path } from '../../../src/advice/container-spec.ts';

/** A whole number from 0 up to, but not including, the limit. */
export type Draw = (limit: number) => number;

export interface Row {
  text: string;
  /** Of what the line says, or begins to say. */
  path: Path;
  /** It holds all of the value at its path. */
  isWhole: boolean;
}

interface Author {
  draw: Draw;
  map: number;
  dash: number;
  comments: number;
  flow: number;
}

export function authorOf(draw: Draw): Author {
  return { draw, map: 2 + 2 * draw(2), dash: draw(2) * 2, comments: draw(4), flow: draw(4) };
}

const pick = <T>(draw: Draw, values: readonly T[]): T => values[draw(values.length)] as T;
let written = 0;

/** The lines of a map or a list, as an author of this style writes it at a column. */
export function rowsOf(author: Author, value: object, path: Path = [], column = 0): Row[] {
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, child]: [string, unknown], at): Row[] => {
    const step = isList ? at : key;
    const own = [...path, step];
    const rows = isList ? itemRows(author, child, own, column) : pairRows(author, key, child, own, column);
    return [...commentRows(author, path, column), ...rows];
  });
}

function pairRows(author: Author, key: string, value: unknown, path: Path, column: number): Row[] {
  const { draw } = author;
  const name = key === 'on' || draw(8) === 0 ? JSON.stringify(key) : draw(8) === 0 ? `'${key}'` : key;
  const start = `${' '.repeat(column)}${name}:`;
  if (!isFilled(value) || draw(6) < author.flow) return scalarRows(author, start, value, path, column);
  const inside = column + (Array.isArray(value) ? author.dash : author.map);
  const head = { text: `${start}${trailing(author)}`, path, isWhole: false };
  return [head, ...rowsOf(author, value, path, inside), ...commentRows(author, path, inside)];
}

function itemRows(author: Author, value: unknown, path: Path, column: number): Row[] {
  const { draw } = author;
  const start = `${' '.repeat(column)}-`;
  if (!isFilled(value) || Array.isArray(value) || draw(6) < author.flow)
    return scalarRows(author, start, value, path, column);
  const rows = rowsOf({ ...author, comments: 0 }, { ...value }, path, column + 2);
  const [first, ...others] = rows;
  if (!first) return [];
  return [{ ...first, text: `${start} ${first.text.slice(column + 2)}` }, ...others];
}

function scalarRows(author: Author, start: string, value: unknown, path: Path, column: number): Row[] {
  const { draw } = author;
  const row = (text: string): Row => ({ text, path, isWhole: true });
  if (typeof value === 'string' && value.includes('\n')) {
    const body = value.replace(/\n+$/, '');
    const chomp = value === body ? '-' : value === `${body}\n` ? '' : '+';
    const indent = ' '.repeat(column + 2);
    const lines = value
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => (line === '' ? '' : indent + line));
    return [row(`${start} |${chomp}${trailing(author)}`), ...lines.map(row)];
  }
  if (value === null && draw(2) === 0) return [row(`${start}${trailing(author)}`)];
  if (isFilled(value) && draw(3) === 0) {
    const lines = JSON.stringify(value, null, 2).split('\n');
    return lines.map((line, at) => row(`${at === 0 ? `${start} ` : ' '.repeat(column + 1)}${line}`));
  }
  return [row(`${start} ${flowOf(author, value)}${trailing(author)}`)];
}

function flowOf(author: Author, value: unknown): string {
  const { draw } = author;
  if (Array.isArray(value)) return `[${value.map((one) => flowOf(author, one)).join(pick(draw, [', ', ',  ']))}]`;
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(
      ([key, child]) => `${key === 'on' ? '"on"' : key}: ${flowOf(author, child)}`,
    );
    return draw(3) === 0 && pairs.length > 0 ? `{ ${pairs.join(', ')} }` : `{${pairs.join(', ')}}`;
  }
  if (typeof value !== 'string') return String(value);
  if (draw(3) === 0 && !/[\n']/.test(value)) return `'${value}'`;
  return draw(3) === 0 || value === 'yes' || !/^[a-z]\w*$/.test(value) ? JSON.stringify(value) : value;
}

function commentRows({ draw, comments }: Author, path: Path, column: number): Row[] {
  if (draw(6) >= comments) return [];
  if (draw(4) === 0) return [{ text: '', path, isWhole: false }];
  return [{ text: `${' '.repeat(column)}# note ${++written}`, path, isWhole: false }];
}

const trailing = ({ draw, comments }: Author): string => (draw(6) < comments ? ` # note ${++written}` : '');

const isFilled = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

/** An object like those in manifests, with containers that have names. */
export function drawObject(draw: Draw): Record<string, unknown> {
  const scalar = (): unknown =>
    pick(draw, [
      0,
      1,
      30,
      true,
      null,
      'web',
      'yes',
      '0644',
      'a b',
      '# no',
      'x: y',
      'one\ntwo\n',
      'keep\n\n\n',
      'strip\nit',
      {},
      [],
    ]);
  const value = (depth: number): unknown => {
    if (depth === 0 || draw(3) === 0) return scalar();
    if (draw(3) === 0) return Array.from({ length: draw(3) }, () => value(depth - 1));
    return Object.fromEntries(
      Array.from({ length: draw(4) }, () => [pick(draw, ['a', 'b', 'c', 'on', 'x.y/z']), value(depth - 1)]),
    );
  };
  const container = (name: string) => ({
    ...(draw(3) === 0 && { image: value(0) }),
    name,
    ...(draw(2) === 0 && { lifecycle: value(2) }),
    ...(draw(2) === 0 && { ports: value(2) }),
    ...(draw(4) === 0 && { env: value(3) }),
  });
  return {
    kind: 'Deployment',
    metadata: { name: 'web', ...(draw(2) === 0 && { labels: value(1) }) },
    spec: {
      ...(draw(2) === 0 && { replicas: 1 }),
      ...(draw(2) === 0 && { strategy: value(2) }),
      ...(draw(4) === 0 && { initContainers: [container('setup')] }),
      containers: ['app', 'proxy', 'last'].slice(0, 1 + draw(3)).map(container),
      ...(draw(2) === 0 && { volumes: value(2) }),
    },
  };
}
