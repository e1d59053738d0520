/** Completion offers every target that a command takes: also nodes, several pods, and the workload of a rollout. */
import { expect, it } from 'vitest';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

const offered = async (...words: string[]): Promise<string[]> => {
  const { stdout } = await runMain(['__complete', ...words]);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '');
};

const kinds = ['deployment', 'statefulset', 'daemonset', 'replicaset', 'job', 'service'];
const pods = ['checkout-754699c75f-5qlrp', 'checkout-754699c75f-dqc45'];

it('nodes, as TYPE/NAME and as TYPE NAME, only for a trace', () =>
  serving('graceful-exit', {}, async ({ flags }) => {
    expect(await offered(...flags, 'no')).toEqual(['node', ':4']);
    expect(await offered(...flags, 'node/')).toEqual(['node/node1', ':4']);
    expect(await offered(...flags, 'no', '')).toEqual(['node1', ':4']);
    for (const verb of ['check', 'why', 'fix', 'rollout'])
      expect(await offered(verb, ...flags, 'node/')).toEqual([':4']);
  }));

it('further pods after the first, only for a trace', () =>
  serving('graceful-exit', {}, async ({ flags }) => {
    expect(await offered(...flags, 'web-0', '')).toEqual([...pods, ':4']);
    expect(await offered(...flags, 'pod', 'web-0', '')).toEqual([...pods, ':4']);
    expect(await offered(...flags, 'pod/web-0', 'pod/')).toEqual([...pods.map((name) => `pod/${name}`), ':4']);
    for (const first of [['deployment/web'], ['deployment', 'web'], ['node/n1'], ['node', 'n1']])
      expect(await offered(...flags, ...first, '')).toEqual([':4']);
    expect(await offered('check', ...flags, 'web-0', '')).toEqual([':4']);
  }));

it('the workload of a rollout, without a request until its kind is known', () =>
  serving('graceful-exit', {}, async ({ flags, server }) => {
    expect(await offered('rollout', ...flags, '')).toEqual([...kinds, ':4']);
    expect(server.requests).toEqual([]);
    expect(await offered('rollout', ...flags, 'deployment/')).toEqual(['deployment/checkout', ':4']);
    expect(await offered('rollout', ...flags, 'deploy', '')).toEqual(['checkout', ':4']);
  }));
