/** What users of kubectl and other tools type out of habit works, or the answer names what does (test/cli/habits.txt). */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

const pod = 'checkout-66c9944d87-8dthq';

/** These need no cluster, and have no flags for one. */
const withoutCluster = /^(version|help|replay|explain|completion|demo)\b|--help/;

const habits = readFileSync(new URL('habits.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => /^(\d) (.*) => (.*)$/.exec(line.replaceAll('POD', pod))?.slice(1) ?? [line]);

it('has at least sixty habits', () => expect(habits.length).toBeGreaterThanOrEqual(60));

it.each(habits)('exits %s for: kubectl podexit %s, and prints %j', async (code = '', words = '', answer = '') => {
  await serving('rolling-update', {}, async ({ flags }) => {
    const argv = words.split(' ').map((word) => (word === '""' ? '' : word));
    const dashes = argv.indexOf('--');
    const at = dashes < 0 ? argv.length : dashes;
    const printed = await runMain([
      ...argv.slice(0, at),
      ...(withoutCluster.test(words) ? [] : flags),
      ...argv.slice(at),
    ]);
    for (const part of answer.split(' … ')) expect(`${printed.stdout}${printed.stderr}`).toContain(part);
    expect(printed.code).toBe(Number(code));
    expect(printed.stderr.split('\n').length).toBeLessThanOrEqual(4);
  });
});
