/** Rollouts with problems: paused, undone, over quota, crashing, all pods at once, started before the run. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { serving } from '../helpers/serving.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { deployment, ends, pod, rolledOut, scriptedRollout, wait, type Step } from './helpers/scripted-rollout.ts';

interface Case {
  readonly name: string;
  readonly replicas: number;
  /** The state before the run. */
  readonly before: readonly Step[];
  /** What happens once the run watches the pods. */
  readonly after: readonly Step[];
  readonly words?: readonly string[];
  /** The pods that the run reports, each once. */
  readonly exits: readonly string[];
  readonly code: number;
  readonly stderr?: RegExp;
  /** The card's last line, without its icon. */
  readonly answer?: RegExp;
}

const old = ['web-a-1', 'web-a-2'] as const;
const isReady = (...names: string[]): Step[] => names.map((name) => pod(name, 'ready'));
const updating = (generation: number, status = {}): Step =>
  deployment({ generation, status: { observedGeneration: generation, updatedReplicas: 0, ...status } });
const stalled = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' };
const quota = {
  type: 'ReplicaFailure',
  status: 'True',
  reason: 'FailedCreate',
  message: 'pods "web-b-x" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=2, limited: pods=2',
};

const cases: Case[] = [
  {
    name: 'a paused rollout is reported, and traced when it is resumed',
    replicas: 1,
    before: isReady('web-a-1'),
    after: [
      deployment({ generation: 2, spec: { paused: true }, status: { observedGeneration: 2, updatedReplicas: 0 } }),
      wait(500),
      deployment({ generation: 3, spec: { paused: false } }),
      updating(3),
      ...isReady('web-b-1'),
      ...ends('web-a-1'),
      rolledOut(3, 1),
    ],
    exits: ['web-a-1'],
    code: 0,
    stderr: /deployment\/web is paused: it changes no pod before kubectl rollout resume deployment\/web -n \S+/,
  },
  {
    name: 'a rollout that stays paused ends at --timeout, with the pause as the reason',
    replicas: 1,
    before: [
      ...isReady('web-a-1'),
      deployment({ generation: 2, spec: { paused: true }, status: { observedGeneration: 2, updatedReplicas: 0 } }),
    ],
    after: [],
    words: ['--timeout=4s'],
    exits: [],
    code: 3,
    stderr: /was seen to terminate: deployment\/web is paused/,
    answer: /was seen to terminate: deployment\/web is paused/,
  },
  {
    name: 'a rollout that is undone half-way ends when the pods of the new revision are gone',
    replicas: 2,
    before: isReady(...old),
    after: [
      updating(2),
      ...isReady('web-b-1'),
      wait(400),
      deployment({ generation: 3, status: { observedGeneration: 2 } }),
      updating(3, { updatedReplicas: 2, replicas: 3, availableReplicas: 2, readyReplicas: 2 }),
      ...ends('web-b-1'),
      rolledOut(3, 2),
    ],
    exits: ['web-b-1'],
    code: 0,
  },
  {
    name: 'with maxUnavailable 100% all pods terminate at once',
    replicas: 2,
    before: [...isReady(...old), deployment({ spec: { strategy: { rollingUpdate: { maxUnavailable: '100%' } } } })],
    after: [updating(2), ...ends(...old), ...isReady('web-b-1', 'web-b-2'), rolledOut(2, 2)],
    exits: old,
    code: 0,
    answer: /^2 of 2 pods terminated gracefully/,
  },
  {
    name: 'with maxSurge 100% no pod terminates before the new ones are ready',
    replicas: 2,
    before: [...isReady(...old), deployment({ spec: { strategy: { rollingUpdate: { maxSurge: '100%' } } } })],
    after: [updating(2), ...isReady('web-b-1', 'web-b-2'), wait(1500), ...ends(...old), rolledOut(2, 2)],
    exits: old,
    code: 0,
  },
  {
    name: 'crashing new pods are named when the progress deadline ends the run',
    replicas: 2,
    before: isReady(...old),
    after: [
      updating(2),
      ...ends('web-a-1'),
      pod('web-b-1', 'CrashLoopBackOff'),
      pod('web-b-2', 'CrashLoopBackOff'),
      pod('web-b-1', 'crashed'),
      wait(300),
      deployment({ conditions: [stalled] }),
    ],
    exits: ['web-a-1'],
    code: 3,
    stderr: /progress deadline is over \(pod web-b-1: container app waits in CrashLoopBackOff; pod web-b-2/,
    answer: /^1 of 1 pod terminated gracefully, but the rollout did not complete/,
  },
  {
    name: 'new pods that run and never become ready are named at the end, and not before',
    replicas: 2,
    before: isReady(...old),
    after: [
      updating(2),
      ...ends('web-a-1'),
      pod('web-b-1', 'unready'),
      wait(300),
      deployment({ conditions: [stalled] }),
    ],
    exits: ['web-a-1'],
    code: 3,
    stderr:
      /^(?!.*^podexit: pod web-b-1).*progress deadline is over \(pod web-b-1: container app runs but is not ready\)/ms,
  },
  {
    name: 'a volume that a new pod cannot get is named when the progress deadline ends the run',
    replicas: 2,
    before: isReady(...old),
    after: [
      updating(2),
      ...ends('web-a-1'),
      pod('web-b-1', 'ContainerCreating'),
      { kind: 'event', pod: 'web-b-1', reason: 'FailedMount' },
      pod('web-b-1', 'ContainerCreating'),
      wait(300),
      deployment({ conditions: [stalled] }),
    ],
    exits: ['web-a-1'],
    code: 3,
    stderr:
      /progress deadline is over \(pod web-b-1 waits for a volume \(FailedMount\): kubectl describe pod web-b-1\)/,
  },
  {
    name: 'what holds a pod of others is not said of this rollout, nor an Event from before a pod was ready',
    replicas: 2,
    before: [...isReady(...old), { kind: 'event', pod: 'web-a-2', reason: 'FailedMount' }],
    after: [
      { kind: 'event', pod: 'other-b-1', reason: 'FailedMount' },
      updating(2),
      ...ends('web-a-1'),
      pod('web-b-1', 'unready'),
      { kind: 'event', pod: 'web-b-1', reason: 'Unhealthy', message: 'Readiness probe failed: connection refused' },
      wait(300),
      deployment({ conditions: [stalled] }),
    ],
    exits: ['web-a-1'],
    code: 3,
    stderr:
      /^(?!.*FailedMount).*\(pod web-b-1: container app runs but is not ready: its readiness probe fails \(connection refused\)\)/ms,
  },
  {
    name: 'the message of a quota that blocks the new ReplicaSet is printed',
    replicas: 2,
    before: isReady(...old),
    after: [
      updating(2),
      ...ends('web-a-1'),
      deployment({ conditions: [quota] }),
      wait(300),
      deployment({ conditions: [stalled, quota] }),
    ],
    exits: ['web-a-1'],
    code: 3,
    stderr: /deployment\/web cannot create pods: pods "web-b-x" is forbidden: exceeded quota: compute/,
    answer: /^1 of 1 pod terminated gracefully, but the rollout did not complete/,
  },
  {
    name: 'a rollout that is still running at --timeout is not complete',
    replicas: 2,
    before: isReady(...old),
    after: [updating(2), ...ends('web-a-1')],
    words: ['--timeout=5s'],
    exits: ['web-a-1'],
    code: 3,
    stderr: /gave up at --timeout: deployment\/web had not rolled out\n/,
    answer: /but the rollout did not complete/,
  },
  {
    name: 'a rollout that started before the run is traced, including the already terminating pod',
    replicas: 2,
    before: [...isReady(...old, 'web-b-1'), updating(2), pod('web-a-1', 'terminating')],
    after: [pod('web-a-1', 'exited'), wait(300), pod('web-a-1', 'gone'), ...ends('web-a-2'), rolledOut(2, 2)],
    exits: old,
    code: 0,
  },
];

it.concurrent.each(cases)('$name', ({ replicas, before, after, words = [], exits, code, stderr, answer }) =>
  serving('exit-143', {}, async ({ flags, server }) => {
    const script = scriptedRollout(server);
    await script.play([deployment({ spec: { replicas } }), rolledOut(1, replicas), ...before]);
    const running = runMain(['rollout', 'deploy/web', ...words, '-o', 'json', ...flags]);
    await untilPodsAreWatched(server);
    await script.play(after);
    const ran = await running;
    const report = JSON.parse(ran.stdout) as { exits: ExitReport[]; summary: { sentence: string; exitCode: number } };
    expect(report.exits.map(({ pod: { name } }) => name).sort()).toEqual(exits);
    expect(ran.code, ran.stderr).toBe(code);
    expect(report.summary.exitCode).toBe(code);
    if (stderr) expect(ran.stderr).toMatch(stderr);
    if (answer) expect(report.summary.sentence).toMatch(answer);
  }),
);

it('a replay of a rollout in which no pod ended says what held its new pods, as the run did', () =>
  serving('exit-143', {}, async ({ flags, server }) => {
    const script = scriptedRollout(server);
    const file = join(mkdtempSync(join(tmpdir(), 'held-')), 'run.ndjson');
    await script.play([deployment({ spec: { replicas: 1 } }), rolledOut(1, 1), ...isReady('web-a-1')]);
    const running = runMain(['rollout', 'deploy/web', '--timeout=3s', '--record', file, ...flags]);
    await untilPodsAreWatched(server);
    await script.play([updating(2), pod('web-b-1', 'unready')]);
    const [ran, again] = [await running, await runMain(['replay', file])];
    const words = /no pod of deployment\/web was seen to terminate: pod web-b-1: container app runs but is not ready/;
    for (const { code, stdout } of [ran, again]) {
      expect(code).toBe(3);
      expect(stdout.replace(/\s+/g, ' ')).toMatch(words);
    }
  }));

async function untilPodsAreWatched({ requests }: { requests: readonly { resource?: string; verb?: string }[] }) {
  while (!requests.some(({ resource, verb }) => resource === 'pods' && verb === 'watch'))
    await new Promise((resolve) => setTimeout(resolve, 10));
  await new Promise((resolve) => setTimeout(resolve, 300));
}
