/**
 * Reading untrusted values: an API server, a webhook, or a file may put anything anywhere. A value of
 * the wrong type is as good as absent. Nothing here throws.
 */

/** Longest string that is kept of an untrusted object; Kubernetes' own limits are far below. */
const longestString = 4096;

/** A JSON object that nothing has checked yet. Client-node's types would promise fields that may be absent or of another type. */
export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An empty object where `value` is none. */
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Of any object of Kubernetes, or a list. */
export const metadataOf = (object: unknown): JsonObject => asObject(asObject(object)['metadata']);

export const has = (value: unknown): boolean => value !== undefined && value !== null;

export const asArray = (value: unknown, most = 10_000): unknown[] => (Array.isArray(value) ? value.slice(0, most) : []);

export const asString = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, longestString) : undefined;

export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** A count of seconds: whole, not negative, and small enough to add to a time. */
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

/**
 * Leaves out what is undefined, so that narrowed objects compare and print alike. A copy: objects that something was deleted
 * from are slower to read, for V8, than those that never had it, and all that is concluded reads them.
 */
export function compact<T extends object>(object: T): T {
  const kept: Partial<T> = {};
  for (const key of Object.keys(object) as (keyof T)[]) if (object[key] !== undefined) kept[key] = object[key];
  return kept as T;
}

/** An array, or undefined where nothing is in it. */
export const filled = <T>(array: T[]): T[] | undefined => (array.length > 0 ? array : undefined);

/** A map of strings cut down to `keys` (all keys where absent). */
export function stringMap(value: unknown, keep: (key: string) => boolean): Record<string, string> | undefined {
  const map: Record<string, string> = {};
  for (const [key, item] of Object.entries(asObject(value)))
    if (typeof item === 'string' && keep(key)) map[key.slice(0, longestString)] = item.slice(0, longestString);
  return Object.keys(map).length > 0 ? map : undefined;
}

/** Reads one untrusted value. */
export type Reader<T = unknown> = (raw: unknown) => T;

/** `object`: of which the value is a field. */
type Fields = Readonly<Record<string, (raw: unknown, object: JsonObject) => unknown>>;
type Absent<F extends Fields> = { [K in keyof F]: undefined extends ReturnType<F[K]> ? K : never }[keyof F];
type Flat<T> = { [K in keyof T]: T[K] };

/** The type of what `shape` reads: a field that may be undefined is optional. */
type Shaped<F extends Fields> = Flat<
  { [K in Exclude<keyof F, Absent<F>>]: ReturnType<F[K]> } & {
    [K in Absent<F>]?: Exclude<ReturnType<F[K]>, undefined>;
  }
>;

/** An object of these fields, in this order, and of no others. What is undefined is left out. */
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

/** Undefined where the value is absent. */
export const maybe =
  <T>(reader: Reader<T>): Reader<T | undefined> =>
  (raw) =>
    has(raw) ? reader(raw) : undefined;

/** Undefined where none of its fields is there. */
export const unlessEmpty =
  <T extends object>(reader: Reader<T>): Reader<T | undefined> =>
  (raw) => {
    const object = reader(raw);
    return Object.keys(object).length > 0 ? object : undefined;
  };

export const textOr =
  (other: string): Reader<string> =>
  (raw) =>
    asString(raw) ?? other;

/** An array of at most `most`, or undefined where nothing is in it. */
export const listOf =
  <T>(reader: Reader<T>, most: number): Reader<T[] | undefined> =>
  (raw) =>
    filled(asArray(raw, most).map(reader));

export const constant =
  <T extends string>(value: T): Reader<T> =>
  () =>
    value;
