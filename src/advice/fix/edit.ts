/** What `fix` changes in an object: as values, applied to the object, and as a strategic merge patch. Pure. */
import { asObject, isObject, type JsonObject } from '../../model/observe/read.ts';
import type { Path } from '../container-spec.ts';

/** Sets a field, which may not exist yet. `why`: a short clause, for a comment. */
export interface Edit {
  path: Path;
  value: unknown;
  why: string;
}

/** The value with the edits applied. Parts that no edit changes stay the same objects. */
export const editedValue = <T>(value: T, edits: readonly Edit[]): T =>
  edits.reduce<unknown>((object, edit) => withPart(object, edit.path, edit.value), value) as T;

/** What has no fields on the way becomes a map. */
function withPart(value: unknown, [step, ...rest]: Path, part: unknown): unknown {
  if (step === undefined) return part;
  const child = withPart(childOf(value, step), rest, part);
  return Array.isArray(value) && typeof step === 'number'
    ? value.with(step, child)
    : { ...asObject(value), [step]: child };
}

/** The field, or the item of a list. */
export const childOf = (value: unknown, step: string | number): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    ? (value as Record<string | number, unknown>)[step]
    : undefined;

/** The value and all fields and items in it, each with its path; none that is nested deeper than those of a pod spec. */
export function partsOf(value: unknown, path: Path = []): [path: Path, value: unknown][] {
  const steps = typeof value !== 'object' || path.length > 12 ? [] : Object.keys(value ?? {});
  const inner = Array.isArray(value) ? steps.map(Number) : steps;
  return [[path, value], ...inner.flatMap((step) => partsOf(childOf(value, step), [...path, step]))];
}

export function strategicPatch(before: unknown, after: unknown, key = ''): unknown {
  // Merged by name (core/v1 `patchMergeKey`).
  if (key === 'containers' || key === 'initContainers') {
    const old: unknown[] = Object.values(before ?? {});
    return Object.values(after ?? {}).flatMap((item: unknown, at) =>
      isSame(old[at], item) ? [] : [{ name: childOf(item, 'name'), ...asObject(strategicPatch(old[at], item)) }],
    );
  }
  if (!isObject(before) || !isObject(after)) return after;
  const changed = differing(before, after).map((field): [string, unknown] => {
    if (after[field] === undefined) return [field, null];
    return [field, before[field] === undefined ? after[field] : strategicPatch(before[field], after[field], field)];
  });
  return Object.fromEntries(changed);
}

export const differing = (before: JsonObject, after: JsonObject): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => !isSame(before[key], after[key]));

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
