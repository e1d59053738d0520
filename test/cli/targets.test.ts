/** Which pod a command line names: workloads, selectors, picks, and what is printed if several match. */
import { describe, expect, it } from 'vitest';
import { parseAnyTarget, parseTarget } from '../../src/cli/target.ts';
import { targetText } from '../../src/run/choosing/target.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { runMain } from './helpers/in-process.ts';

const pod = (name: string) => ({ kind: 'pod', name });
const pods = (...names: string[]) => ({ kind: 'pods', names });
const workload = (resource: string, name: string) => ({ kind: 'workload', resource, name });

describe('words', () => {
  it.each([
    ['po web', pod('web')],
    ['pods.v1. web', pod('web')],
    ['pod/rollout', pod('rollout')],
    ['deploy.web', pod('deploy.web')],
    ['a a', pod('a')],
    ['a b c', pods('a', 'b', 'c')],
    ['pod a b', pods('a', 'b')],
    ['pod/rollout po/b web', pods('rollout', 'b', 'web')],
    ['Deployments.apps web', workload('deployments', 'web')],
    ['deployments.v1.apps/web', workload('deployments', 'web')],
    ['job.batch/once', workload('jobs', 'once')],
    ['sts/db', workload('statefulsets', 'db')],
    ['ds log', workload('daemonsets', 'log')],
    ['rs/web-1', workload('replicasets', 'web-1')],
    ['svc/web', workload('services', 'web')],
    ['node/n1.example', { kind: 'node', name: 'n1.example' }],
    ['no n1', { kind: 'node', name: 'n1' }],
  ])('%s', (words, target) => expect(parseAnyTarget(words.split(' '))).toEqual(target));

  it.each([
    ['deploy/a deploy/b', /only pods can be named together/],
    ['deploy a b', /only pods can be named together/],
    ['pod a/b', /only pods can be named together/],
    ['node/a node/b', /only pods can be named together/],
    ['a/b/c', /neither a pod nor TYPE/],
    ['node', /is a kind; its name is missing/],
    ['svc', /is a kind; its name is missing/],
    ['deploy/', /cannot be the name of a deployment/],
    ['Web_1', /cannot be the name of a pod/],
    ['configmap/x', /unknown resource type/],
    ['services.serving.knative.dev/web', /unknown resource type/],
    ['jobs.batch.volcano.sh/train', /unknown resource type/],
    ['pods.metrics.k8s.io/web', /unknown resource type/],
    ['pods.apps/web', /unknown resource type/],
  ])('%s is refused', (words, reason) => expect(() => parseAnyTarget(words.split(' '))).toThrow(reason));

  it('a name and a selector together are refused', () => {
    expect(() => parseTarget(['web'], { selector: 'app=web' })).toThrow(/cannot be given together/);
    expect(parseTarget(['pods'], { selector: 'app=web' })).toEqual({ kind: 'selector', labels: 'app=web', fields: '' });
  });
});

it('a node and a selector together are the pods of the node that match', () => {
  const target = parseAnyTarget(['node/n1'], { selector: 'app=web', fieldSelector: 'metadata.name=web-0' });
  expect(target).toEqual({ kind: 'node', name: 'n1', labels: 'app=web', fields: 'metadata.name=web-0' });
  expect(targetText(target)).toBe('node/n1 -l app=web --field-selector metadata.name=web-0');
  expect(targetText(parseAnyTarget(['node', 'n1']))).toBe('node/n1');
  expect(() => parseAnyTarget(['node/n1'], { selector: '' })).toThrow(/selector is empty/);
});

describe('flags before the name of a command', () => {
  const recording = recordingFile('graceful-exit');

  it('belong to that command: a gate is judged in both positions', async () => {
    const behind = await runMain(['replay', recording, '--max-duration', '1ms']);
    expect(behind.code).toBe(5);
    expect(await runMain(['--max-duration', '1ms', 'replay', recording])).toEqual(behind);
    expect((await runMain(['-o', 'json', 'replay', recording])).stdout).toMatch(/^\{/);
  });
});
