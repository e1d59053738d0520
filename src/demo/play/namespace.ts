import { isRecord } from '../data/kube-object.ts';
import type { Row } from '../scenario.ts';

/** The same rows as if they had been recorded in another namespace. */
export function renameNamespace(rows: readonly Row[], from: string, to: string): Row[] {
  return rows.map((row) => renamed(row, from, to) as Row);
}

function renamed(value: unknown, from: string, to: string, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => renamed(one, from, to));
  if (isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, renamed(inner, from, to, key)]));
  }
  if (name === 'namespace' && value === from) return to;
  return name === 'path' && typeof value === 'string'
    ? value.replace(`/namespaces/${from}/`, `/namespaces/${to}/`)
    : value;
}
