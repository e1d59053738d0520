/** Readers for untrusted values, for which a wrong type counts as absent, and checks of what must be right. Nothing here throws. */

/** Longer strings of untrusted objects are cut; Kubernetes' own limits are far below. */
const maxStringLength = 4096;

/** An unchecked JSON object. client-node's types would promise fields that may be absent or have another type. */
export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An empty object if `value` is not an object. */
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The metadata of a Kubernetes object or list. */
export const metadataOf = (object: unknown): JsonObject => asObject(asObject(object)['metadata']);

export const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

export const asArray = (value: unknown, max = 10_000): unknown[] => (Array.isArray(value) ? value.slice(0, max) : []);

export const asString = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, maxStringLength) : undefined;

/** Empty if absent. */
export const asText = (value: unknown): string => asString(value) ?? '';

export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** A number of seconds: not negative, rounded down, and small enough to add to a time. */
export const asSeconds = (value: unknown): number | undefined => {
  const number = asNumber(value);
  return number !== undefined && number >= 0 && number <= 1e9 ? Math.floor(number) : undefined;
};

export const asBoolean = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);

export const asStrings = (value: unknown): string[] =>
  Array.isArray(value)
    ? asArray(value)
        .map(asString)
        .filter((one) => one !== undefined)
    : [];

/** Leaves out undefined fields. A copy, because V8 reads objects more slowly after a delete. */
export function compact<T extends object>(object: T): T {
  const kept: Partial<T> = {};
  for (const key of Object.keys(object) as (keyof T)[]) if (object[key] !== undefined) kept[key] = object[key];
  return kept as T;
}

/** The array, or undefined if it is empty. */
export const nonEmpty = <T>(array: T[]): T[] | undefined => (array.length > 0 ? array : undefined);

/** The string values of a map, for the keys to `keep`. */
export function stringMap(value: unknown, keep: (key: string) => boolean): Record<string, string> | undefined {
  const map: Record<string, string> = {};
  for (const [key, item] of Object.entries(asObject(value)))
    if (typeof item === 'string' && keep(key)) map[key.slice(0, maxStringLength)] = item.slice(0, maxStringLength);
  return Object.keys(map).length > 0 ? map : undefined;
}

/** Reads one untrusted value. */
export type Reader<T = unknown> = (raw: unknown) => T;

type Fields = Readonly<Record<string, (raw: unknown, object: JsonObject) => unknown>>;
/** An intersection of object types as one object type. */
export type Flat<T> = { [K in keyof T]: T[K] };

/** Fields that may be undefined are optional. */
export type WithOptional<T> = Flat<
  { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
    [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
  }
>;

/** The type that `shape` reads. */
type Shaped<F extends Fields> = WithOptional<{ [K in keyof F]: ReturnType<F[K]> }>;

/** Reads an object with exactly these fields, in this order; undefined fields are left out. */
export function shape<F extends Fields>(fields: F): Reader<Shaped<F>> {
  const readers = Object.entries(fields);
  return (raw) => {
    const object = asObject(raw);
    const read: Record<string, unknown> = {};
    for (const [key, reader] of readers) {
      const value = reader(object[key], object);
      if (value !== undefined) read[key] = value;
    }
    return read as Shaped<F>;
  };
}

/** Undefined if the value is absent. */
export const maybe =
  <T>(reader: Reader<T>): Reader<T | undefined> =>
  (raw) =>
    isPresent(raw) ? reader(raw) : undefined;

/** Undefined if all fields are absent. */
export const unlessEmpty =
  <T extends object>(reader: Reader<T>): Reader<T | undefined> =>
  (raw) => {
    const object = reader(raw);
    return Object.keys(object).length > 0 ? object : undefined;
  };

/** The number or the name of a port. */
export const asPort = (value: unknown): number | string | undefined => asNumber(value) ?? asString(value);

/** The items, of at most 64, that have a port with this name. */
export const listWith =
  <K extends string, T extends { readonly [_ in K]?: number }>(key: K, reader: Reader<T>) =>
  (raw: unknown): (T & Record<K, number>)[] | undefined =>
    nonEmpty(
      asArray(raw, 64)
        .map(reader)
        .filter((one): one is T & Record<K, number> => one[key] !== undefined),
    );

/** An array of at most `max` items, or undefined if it is empty. */
export const listOf =
  <T>(reader: Reader<T>, max: number): Reader<T[] | undefined> =>
  (raw) =>
    nonEmpty(asArray(raw, max).map(reader));

export const constant =
  <T extends string>(value: T): Reader<T> =>
  () =>
    value;

/** Checks for exactly this type, because code relies on it. */
type Guard<T = unknown> = (value: unknown) => value is T;

type Guards = Readonly<Record<string, Guard>>;
/** The type that a guard checks for. */
export type Guarded<G> = G extends Guard<infer T> ? T : never;

/** The type of an object with these fields. */
type Checked<G extends Guards> = WithOptional<{ [K in keyof G]: Guarded<G[K]> }>;

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
export function fields<G extends Guards>(guards: G): Guard<Checked<G>> {
  const named = Object.entries(guards);
  return (value): value is Checked<G> => {
    const object = asObject(value);
    return named.every(([name, guard]) => guard(object[name]));
  };
}
