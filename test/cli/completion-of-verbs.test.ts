/** Completion offers the formats, --fail-on values and arguments of each command that reads or compares. */
import { expect, it } from 'vitest';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

const offered = async (...words: string[]): Promise<string[]> =>
  (await runMain(['__complete', ...words])).stdout.trimEnd().split('\n');

/** Of each command that prints one document. */
const document = ['table', 'sentence', 'json', 'yaml', 'markdown'];
const templates = ['jsonpath=', 'jsonpath-as-json=', 'custom-columns='];

it.each([
  ['check', [...document, 'junit', 'sarif', ...templates]],
  ['why', [...document, ...templates]],
  ['fix', ['strategic', 'json-patch', 'kustomize', 'yaml']],
  ['compare', [...document, ...templates]],
  ['recommend', [...document, 'html', ...templates]],
  ['signals', [...document, ...templates]],
  ['try', [...document, ...templates]],
])('%s -o offers exactly its formats, and accepts each', async (verb, formats) => {
  expect(await offered(verb, '-o', '')).toEqual([...formats, ':4']);
  for (const format of formats) {
    const { stderr } = await runMain([verb, '-o', format, '--nosuch']);
    expect(stderr).toMatch(/nosuch/);
  }
});

it.each([
  ['why', ['forced', 'oom', 'killed', 'failed', 'overran', 'stuck', 'unknown']],
  ['compare', ['worse']],
  ['recommend', ['raise', 'lower', 'killed', 'lost']],
  ['try', ['worse', 'lost']],
])('%s --fail-on offers its values', async (verb, words) => {
  expect(await offered(verb, '--fail-on', '')).toEqual([...words, ':4']);
});

it('check, why, fix and try offer pods of the cluster; compare and recommend offer files', () =>
  serving('graceful-exit', {}, async ({ flags }) => {
    for (const verb of ['check', 'why', 'fix', 'try'])
      expect(await offered(verb, ...flags, 'checkout-754699c75f-5')).toEqual([
        'checkout-754699c75f-5qlrp\tof ReplicaSet checkout-754699c75f',
        ':4',
      ]);
    for (const verb of ['compare', 'recommend']) expect(await offered(verb, '')).toEqual([':0']);
    expect(await offered('compare', 'a.json', 'b.json', '')).toEqual([':4']);
  }));
