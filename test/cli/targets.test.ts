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

it.each([
  [['help'], /^Usage: kubectl-podexit TARGET/m],
  [['help', 'replay'], /^Usage: kubectl-podexit replay/m],
  [['version'], /^\d+\.\d+\.\d+\S*\n$/],
])('%j is a command, not a pod', async (words, printed) => {
  const ran = await runMain(words);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.stdout).toMatch(printed);
});

describe('a mistyped command looks like a pod name, and the error suggests the command', () => {
  it.each([
    ['chek', 'check'],
    ['rolout', 'rollout'],
    ['explian', 'explain'],
  ])('%s: %s', async (word, command) => {
    const ran = await runMain([word, 'deployment/checkout']);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain(`Did you mean the command "${command}"?`);
  });

  it('suggests one when no pod has that name, but never for a name unlike any command', () =>
    serving('graceful-exit', {}, async ({ flags }) => {
      expect((await runMain(['chek', '-y', ...flags])).stderr).toContain('Did you mean the command "check"?');
      expect((await runMain(['web-0', '-y', ...flags])).stderr).not.toContain('Did you mean');
    }));
});

describe('several pods', () => {
  it('are listed with age, node and readiness, and nothing is deleted', () =>
    serving('graceful-exit', {}, async ({ flags, server }) => {
      const ran = await runMain(['deploy/checkout', ...flags]);
      expect(ran).toMatchObject({ code: 1, stdout: '' });
      expect(ran.stderr).toMatch(/deployment\/checkout in namespace "graceful-exit" matches 2 pods/);
      expect(ran.stderr).toMatch(/NAME +READY +AGE +NODE\n/);
      expect(ran.stderr).toMatch(new RegExp(`${first} +yes +\\d+[smhd] +node1\n${second} +yes`));
      expect(server.deletesAccepted).toBe(0);
    }));

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

  it('--pick=not-ready fails if every pod is ready', () =>
    serving('graceful-exit', {}, async ({ flags }) => {
      const ran = await runMain(['svc/checkout', '--pick=not-ready', '--dry-run=client', ...flags]);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/every pod of service\/checkout .* is ready/);
    }));

  it('can be chosen by number at a terminal', () =>
    serving('graceful-exit', {}, async ({ flags }) => {
      const words = ['rs/checkout-754699c75f', '--dry-run=client', '-o', 'name', ...flags];
      const ran = await runMain(words, { answers: ['2', 'y'] });
      expect(ran.stderr).toMatch(/1 {2}checkout-754699c75f-5qlrp[\s\S]*Which one \(1-2\)\?/);
      expect(ran).toMatchObject({ code: 0, stdout: `pod/${second}\n` });
      expect((await runMain(words, { answers: ['7'] })).stderr).toMatch(
        /"7" is not a choice: enter a number from 1 to 2/,
      );
      expect((await runMain(words, { answers: [''] })).stderr).toMatch(/no pod was chosen/);
    }));
});

it('says which workload does not exist, or has no pods', () =>
  serving('graceful-exit', {}, async ({ flags }) => {
    expect((await runMain(['deploy/nope', ...flags])).stderr).toMatch(/no deployment "nope".*\n.*get deployments/);
    expect((await runMain(['-l', 'app=nope', ...flags])).stderr).toMatch(/-l app=nope .* has no pods/);
    expect(await runMain(['deploy/nope', '--ignore-not-found', ...flags])).toEqual({ code: 0, stdout: '', stderr: '' });
  }));

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

  it('are refused if that command does not have them', async () =>
    expect((await runMain(['--force', 'replay', recording])).stderr).toContain("unknown option '--force'"));

  it('may be short and share a dash', async () =>
    expect((await runMain(['-in', 'shop', 'replay', recording])).stderr).toContain("unknown option '-i'"));

  it('keep their values, even if those look like a command', async () => {
    const ran = await runMain(['-n', 'check', '--server', 'http://127.0.0.1:1', '--no-config', 'check', 'web-0']);
    expect(ran.stderr).toContain('127.0.0.1:1 cannot be reached');
    expect((await runMain(['-v', '3', '--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  });
});

it.each([[['-l', '']], [['-l=']], [['--field-selector=', '--pick=oldest']], [['pods', '-l', ' ']]])(
  '%j is refused, because it would select every pod',
  async (words) => {
    const ran = await runMain(words);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain('the selector is empty');
  },
);

it('empty connection flags count as not set, as in kubectl', async () => {
  const empty = ['--context=', '--cluster', '', '--user=', '--kubeconfig=', '-n=', '--request-timeout='];
  const ran = await runMain(['web-0', ...empty, '--server', 'http://127.0.0.1:1', '--no-config']);
  expect(ran.stderr).toContain('127.0.0.1:1 cannot be reached');
});
