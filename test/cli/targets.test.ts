/** Which pod a command line names: workloads, selectors, picks, and what is printed if several match. */
import { describe, expect, it } from 'vitest';
import { parseAnyTarget, parseTarget } from '../../src/cli/target.ts';
import { targetText } from '../../src/run/choosing/target.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

const [first, second] = ['checkout-754699c75f-5qlrp', 'checkout-754699c75f-dqc45'];

describe('words', () => {
  it.each([
    [['web'], { kind: 'pod', name: 'web' }],
    [['pod/web'], { kind: 'pod', name: 'web' }],
    [['po', 'web'], { kind: 'pod', name: 'web' }],
    [['deploy/web'], { kind: 'workload', resource: 'deployments', name: 'web' }],
    [['Deployments.apps', 'web'], { kind: 'workload', resource: 'deployments', name: 'web' }],
    [['deployments.v1.apps/web'], { kind: 'workload', resource: 'deployments', name: 'web' }],
    [['job.batch/once'], { kind: 'workload', resource: 'jobs', name: 'once' }],
    [['pods.v1.', 'web'], { kind: 'pod', name: 'web' }],
    [['sts/db'], { kind: 'workload', resource: 'statefulsets', name: 'db' }],
    [['ds', 'log'], { kind: 'workload', resource: 'daemonsets', name: 'log' }],
    [['rs/web-1'], { kind: 'workload', resource: 'replicasets', name: 'web-1' }],
    [['job/once'], { kind: 'workload', resource: 'jobs', name: 'once' }],
    [['svc/web'], { kind: 'workload', resource: 'services', name: 'web' }],
  ])('%j', (words, target) => expect(parseTarget(words)).toEqual(target));

  it.each([[['a', 'b', 'c']], [['a/b/c']], [['configmap/x']], [['Web_1']], [['deploy/']], [[]]])(
    '%j is refused, and the message says what is expected',
    (words) =>
      expect(() => parseTarget(words)).toThrow(
        /only pods|no pod|unknown resource type|cannot be the name|neither a pod nor TYPE/,
      ),
  );

  it.each([
    'services.serving.knative.dev/web',
    'jobs.batch.volcano.sh/train',
    'pods.metrics.k8s.io/web',
    'pods.apps/web',
  ])('%s belongs to another API group, and is an unknown resource type', (word) =>
    expect(() => parseTarget([word])).toThrow(/unknown resource type/),
  );

  it.each(['deploy', 'pods', 'svc'])('%s alone is a kind without a name, but a pod may have that name', (word) => {
    expect(() => parseTarget([word])).toThrow(/is a kind; its name is missing/);
    expect(parseTarget([`pod/${word}`])).toEqual({ kind: 'pod', name: word });
    expect(parseTarget([`${word}.web`])).toEqual({ kind: 'pod', name: `${word}.web` });
  });

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

it.each([
  ['app=web', '', '-l app=web'],
  ['', 'spec.nodeName=node1', '--field-selector spec.nodeName=node1'],
  ['app=web', 'spec.nodeName=node1', '-l app=web --field-selector spec.nodeName=node1'],
])('labels "%s" and fields "%s" are printed as %s', (labels, fields, text) =>
  expect(targetText({ kind: 'selector', labels, fields })).toBe(text),
);

describe('several pods', () => {
  it.each([
    ['oldest', first],
    ['newest', second],
    ['random', second],
  ])('--pick=%s chooses one', (pick, name) =>
    serving('graceful-exit', {}, async ({ flags, server }) => {
      // The recording created both in one second; an hour between them makes their ages different.
      server.write('pods', 'MODIFIED', await aged(server.url, first, 3600));
      const ran = await runMain(['-l', 'app=checkout', `--pick=${pick}`, '--dry-run=client', '-o', 'name', ...flags]);
      expect(ran).toMatchObject({ code: 0, stdout: `pod/${name}\n` });
    }),
  );
});

async function aged(url: string, name: string, seconds: number): Promise<never> {
  const answer = await fetch(`${url}/api/v1/namespaces/graceful-exit/pods/${name}`);
  const pod = (await answer.json()) as { metadata: { creationTimestamp: string } };
  const created = Date.parse(pod.metadata.creationTimestamp) - seconds * 1000;
  pod.metadata.creationTimestamp = new Date(created).toISOString().replace('.000', '');
  return pod as never;
}

describe('flags before the name of a command', () => {
  const recording = recordingFile('graceful-exit');

  it('belong to that command: a gate is judged in both positions', async () => {
    const behind = await runMain(['replay', recording, '--max-duration', '1ms']);
    expect(behind.code).toBe(5);
    expect(await runMain(['--max-duration', '1ms', 'replay', recording])).toEqual(behind);
    expect((await runMain(['-o', 'json', 'replay', recording])).stdout).toMatch(/^\{/);
  });
});
