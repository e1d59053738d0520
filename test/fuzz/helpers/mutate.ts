/** Breaks JSON values like a hostile cluster or an edited recording. The same seed causes the same damage. */

export type Random = () => number;

export const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

const text = [
  '',
  '\u001b[2J\u001b]0;owned\u0007',
  '\u202egnp.exe\u2066',
  'a\r\nb\tc\u2028d\u0085e',
  '\ud800',
  '\u0000\u007f\u009b31m',
  '</script><script>alert(1)</script>',
  ']]>',
  '__proto__',
  'constructor',
  '9007199254740993',
  '-1',
  'NaN',
];

const stamps = [
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999Z',
  '2026-02-30T25:61:61Z',
  '1969-12-31T23:59:59Z',
  '+275760-09-13T00:00:00Z',
  'yesterday',
  '2026-11-20T23:04:29',
];

const others: (() => unknown)[] = [
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => 1e308,
  () => 2 ** 53,
  () => 0.1,
  () => [],
  () => ({}),
  () => [[[[]]]],
  () => ({ metadata: { name: 7, uid: [], resourceVersion: {} } }),
  () => deep(200),
  () => 'x'.repeat(100_000),
];

/** A text nested in this many levels. */
export const deep = (levels: number): unknown =>
  Array.from({ length: levels }).reduce<unknown>((inner) => ({ a: [inner] }), 'bottom');

function harm(random: Random, value: unknown): unknown {
  const draw = random();
  if (typeof value === 'number' && draw < 0.3) return String(value);
  if (typeof value === 'string' && draw < 0.2) return Number(value.replace(/\D/g, '')) || 0;
  if (typeof value === 'string' && draw < 0.3) return `${value}${pick(random, text)}`;
  if (draw < 0.5) return pick(random, text);
  if (draw < 0.75) return pick(random, stamps);
  return pick(random, others)();
}

/** A copy in which some random values at any depth are replaced or removed. */
export function mutate(random: Random, value: unknown): unknown {
  const copy = structuredClone(value);
  const times = 1 + Math.floor(random() * 3);
  for (let time = 0; time < times; time += 1) strike(random, copy);
  return copy;
}

/** Breaks one random value. */
function strike(random: Random, root: unknown): void {
  let at = root;
  for (let depth = 0; depth < 12; depth += 1) {
    if (typeof at !== 'object' || at === null) return;
    const holder = at as Record<string, unknown>;
    const keys = Object.keys(holder);
    const key = pick(random, keys);
    if (key === undefined) return;
    const next = holder[key];
    if (typeof next === 'object' && next !== null && random() < 0.85) {
      at = next;
      continue;
    }
    // JSON has no arrays with holes.
    if (random() < 0.15 && Array.isArray(at)) at.splice(Number(key), 1);
    else if (random() < 0.15 && !Array.isArray(at)) delete holder[key];
    else holder[key] = harm(random, next);
    return;
  }
}
