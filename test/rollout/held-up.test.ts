/** Rollouts with problems: paused, undone, over quota, crashing, all pods at once, started before the run. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { casesIn, pattern } from '../helpers/case-file.ts';
import { servingPatiently } from '../helpers/serving-patiently.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import {
  deployment,
  ends,
  pod,
  rolledOut,
  scriptedRollout,
  wait,
  type PodState,
  type Step,
} from './helpers/scripted-rollout.ts';

/** A step as text: `NAME STATE`, `NAME … ends`, `wait MS`, `rolled out GENERATION REPLICAS`; or what changes. */
type StepText =
  string | { deployment: Parameters<typeof deployment>[0] } | { event: Omit<Extract<Step, { kind: 'event' }>, 'kind'> };

interface Case {
  replicas: number;
  before: StepText[];
  after: StepText[];
  words?: string[];
  exits: string[];
  code: number;
  stderr?: string;
  answer?: string;
}

function stepsOf(text: StepText): Step[] {
  if (typeof text !== 'string')
    return ['deployment' in text ? deployment(text.deployment) : { kind: 'event', ...text.event }];
  const words = text.split(' ');
  if (words[0] === 'wait') return [wait(Number(words[1]))];
  if (words[0] === 'rolled') return [rolledOut(Number(words[2]), Number(words[3]))];
  return words.at(-1) === 'ends' ? ends(...words.slice(0, -1)) : [pod(words[0] ?? '', words[1] as PodState)];
}

const cases = casesIn<Case>(new URL('held-up.yaml', import.meta.url), [
  'replicas',
  'before',
  'after',
  'words',
  'exits',
  'code',
  'stderr',
  'answer',
]);

it.concurrent.each(cases)('%s', (_, { replicas, before, after, words = [], exits, code, stderr, answer }) =>
  servingPatiently('exit-143', {}, async (cluster) => {
    const { flags, asked } = cluster;
    const script = scriptedRollout(cluster);
    await script.play([deployment({ spec: { replicas } }), rolledOut(1, replicas), ...before.flatMap(stepsOf)]);
    const running = runMain(['rollout', 'deploy/web', ...words, '-o', 'json', ...flags]);
    await asked('watch', 'pods');
    await script.play(after.flatMap(stepsOf));
    const ran = await running;
    const report = JSON.parse(ran.stdout) as { exits: ExitReport[]; summary: { sentence: string; exitCode: number } };
    expect(report.exits.map(({ pod: { name } }) => name).sort()).toEqual(exits);
    expect(ran.code, ran.stderr).toBe(code);
    expect(report.summary.exitCode).toBe(code);
    if (stderr) expect(ran.stderr).toMatch(pattern(stderr));
    if (answer) expect(report.summary.sentence).toMatch(pattern(answer));
  }),
);

it('a replay of a rollout in which no pod ended says what held its new pods, as the run did', () =>
  servingPatiently('exit-143', {}, async (cluster) => {
    const { flags, asked } = cluster;
    const script = scriptedRollout(cluster);
    const file = join(mkdtempSync(join(tmpdir(), 'held-')), 'run.ndjson');
    await script.play([deployment({ spec: { replicas: 1 } }), rolledOut(1, 1), pod('web-a-1', 'ready')]);
    const running = runMain(['rollout', 'deploy/web', '--timeout=3s', '--record', file, ...flags]);
    await asked('watch', 'pods');
    await script.play([
      deployment({ generation: 2, status: { observedGeneration: 2, updatedReplicas: 0 } }),
      pod('web-b-1', 'unready'),
    ]);
    const [ran, again] = [await running, await runMain(['replay', file])];
    const words = /no pod of deployment\/web was seen to terminate: pod web-b-1: container app runs but is not ready/;
    for (const { code, stdout } of [ran, again]) {
      expect(code).toBe(3);
      expect(stdout.replace(/\s+/g, ' ')).toMatch(words);
    }
  }));
