/** Checks of untrusted values that must have exactly the right type, because code relies on it. Nothing here throws. */
import { asObject, type WithOptional } from './read.ts';

type Guard<T = unknown> = (value: unknown) => value is T;

type Guards = Readonly<Record<string, Guard>>;
/** The type that a guard checks for. */
export type Guarded<G> = G extends Guard<infer T> ? T : never;

/** The type of an object with these fields. */
type Fields<G extends Guards> = WithOptional<{ [K in keyof G]: Guarded<G[K]> }>;

export const isText: Guard<string> = (value) => typeof value === 'string';
export const isFlag: Guard<boolean> = (value) => typeof value === 'boolean';
export const isNumber: Guard<number> = (value): value is number => Number.isFinite(value);
/** ms that a Date can hold. */
export const isMs: Guard<number> = (value): value is number => isNumber(value) && Math.abs(value) < 8e15;
export const isCount: Guard<number> = (value): value is number =>
  isNumber(value) && Number.isSafeInteger(value) && value >= 0;
export const isAnything: Guard = (_value): _value is unknown => true;

export const isOneOf =
  <const T>(...values: readonly T[]): Guard<T> =>
  (value): value is T =>
    values.includes(value as T);

export const optional =
  <T>(guard: Guard<T>): Guard<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || guard(value);

export const arrayOf =
  <T>(guard: Guard<T>): Guard<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every(guard);

/** Checks the named fields; other fields are allowed. */
export function fields<G extends Guards>(guards: G): Guard<Fields<G>> {
  const named = Object.entries(guards);
  return (value): value is Fields<G> => {
    const object = asObject(value);
    return named.every(([name, guard]) => guard(object[name]));
  };
}
