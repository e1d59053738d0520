/**
 * Holds reports of the built command against the log of the containerd that ran the containers: a cluster whose only
 * node is this machine. Every exit, stop signal and kill must lie in the interval that the report claims.
 *
 *     PODEXIT_E2E=1 PODEXIT_E2E_CONTAINERD_LOG=FILE npx vitest run test/e2e/runtime-log.test.ts
 *
 * PODEXIT_E2E_QUIT_IMAGE (PODEXIT_E2E_IMAGE with STOPSIGNAL SIGQUIT) adds its situations.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContainerOutcome, ExitReport, Outcome } from '../../src/model/report.ts';
import type { Truth } from '../../src/demo/scenario.ts';
import { podexit } from '../helpers/built.ts';
import { environment, isWanted, kubectl, kubectlMeanwhile, newNamespace, pause } from '../helpers/cluster.ts';
import { truthsOf } from '../helpers/containerd-log.ts';
import { heldAgainst, nanoTime, type Held } from '../helpers/truth.ts';
import { conditions, inContainer, manifest, objectOf, podOf, table, type Programs } from './scenarios.ts';

/** Without programs: the manifest of this name. */
interface Situation extends Partial<Programs> {
  until?: string;
  /** What podexit traces, if it is not the pod. */
  target?: string[];
  words?: string[];
  /** What somebody else does once podexit watches: arguments of kubectl. */
  others?: string[];
  /** Where the log cannot say it. */
  outcome?: Outcome;
}

const file = process.env['PODEXIT_E2E_CONTAINERD_LOG'] ?? '';
const quitImage = process.env['PODEXIT_E2E_QUIT_IMAGE'];
const namespace = newNamespace();
/** Of all situations. */
const held: Held[] = [];

const idle = 'while :; do sleep 0.1; done';
const onSignal = (reaction: string, signal = 'TERM'): string => `trap '${reaction}' ${signal}; ${idle}`;
const drains = (seconds: number): string => onSignal(`sleep ${seconds}; exit 0`);
const ignores = onSignal('');
const exec = (script: string): object => ({ exec: { command: ['sh', '-c', script] } });
const page = String.raw`#!/bin/sh\nsleep 2\nprintf "\r\n\r\nok"`;
const serves = `cd /tmp; mkdir cgi-bin; echo -e '${page}' >cgi-bin/stop; chmod +x cgi-bin/stop; httpd -p 8080; ${drains(1)}`;
const attached = (target: string, ...words: string[]): Partial<Situation> => ({
  words: ['--attach'],
  others: ['delete', target, '--wait=false', ...words],
});

const status = 'jsonpath={.status.containerStatuses[0]';

const situations: Record<string, Situation> = {
  'exits-at-once': { run: onSignal('exit 0') },
  'exits-3': { run: onSignal('sleep 1; exit 3') },
  'exits-137-itself': { run: onSignal('sleep 1; exit 137') },
  'dies-of-its-signal': { run: 'exec sleep 3600', spec: { shareProcessNamespace: true } },
  'no-handler': { run: 'exec sleep 3600', grace: 4 },
  'ignores-with-one-second': { run: ignores, grace: 1 },
  'drains-nearly-too-long': { run: drains(3.4), grace: 4 },
  'drains-too-long': { run: drains(9), grace: 4 },
  'says-that-it-stops': { run: onSignal('echo got SIGTERM; sleep 2; echo done; exit 0') },
  'many-log-lines': { run: 'trap "sleep 1; exit 0" TERM; while :; do echo "GET / 200"; sleep 0.002; done' },
  'many-last-lines': { run: onSignal('seq 20000; exit 0') },
  'hook-sleep-action': { run: drains(1), hook: { sleep: { seconds: 2 } } },
  'hook-too-long-and-ignores': { run: ignores, hook: exec('sleep 60'), grace: 4 },
  'hook-leaves-little': { run: ignores, hook: exec('sleep 3'), grace: 6 },
  'hook-stops-it': { run: drains(1), hook: exec('kill 1; sleep 3') },
  'hook-http': { run: serves, hook: { httpGet: { path: '/cgi-bin/stop', port: 8080 } } },
  'one-of-two-has-a-hook': { run: [drains(1), drains(2)], hook: exec('sleep 4') },
  'one-of-two-crashed-before': {
    run: ['sleep 2; exit 5', drains(1)],
    spec: { restartPolicy: 'Never' },
    until: `${status}.state.terminated.exitCode}=5`,
  },
  'restarts-and-crashes': { run: 'sleep 3; exit 1', until: `${status}.restartCount}=1` },
  'crash-loop': { run: 'exit 1', until: `${status}.state.waiting.reason}=CrashLoopBackOff` },
  'two-sidecars-one-ignores': { run: drains(1), sidecars: [ignores, drains(1)], grace: 5, outcome: 'graceful' },
  'takes-the-time-of-its-sidecar': { run: ignores, sidecars: [drains(3)], grace: 4 },
  'still-initialising': {
    run: drains(1),
    spec: { initContainers: [{ name: 'init', ...inContainer(drains(2)) }] },
    until: 'jsonpath={.status.initContainerStatuses[0].started}=true',
  },
  'shorter-grace-period': { run: drains(3), grace: 30, words: ['--grace-period=2'] },
  'longer-grace-period': { run: drains(3), grace: 2, words: ['--grace-period=9'] },
  now: { run: ignores, grace: 30, words: ['--now'] },
  evicted: { run: drains(1), words: ['--evict'] },
  'deleted-by-others': { run: drains(2), ...attached('pod/deleted-by-others') },
  'forced-by-others': { run: drains(3), ...attached('pod/forced-by-others', '--force'), outcome: 'forced' },
  shortened: { run: ignores, grace: 8, ...attached('pod/shortened', '--grace-period=3'), words: [] },
  job: { run: drains(1), kind: 'Job' },
  'job-deleted': { run: ignores, grace: 3, kind: 'Job', ...attached('job/job-deleted') },
  rolled: { run: drains(1), kind: 'Deployment', target: ['rollout', 'deployment/rolled', '--restart'] },
  ordered: { run: drains(2), kind: 'StatefulSet', target: ['rollout', 'statefulset/ordered', '--restart'] },
  scaled: {
    run: drains(1),
    kind: 'Deployment',
    target: ['rollout', 'deployment/scaled', '--timeout=20s'],
    others: ['scale', 'deployment/scaled', '--replicas=0'],
  },
  ...(quitImage && {
    'quit-image': { run: onSignal('sleep 1; exit 0', 'QUIT'), image: quitImage },
    'quit-image-waits-for-term': { run: drains(1), image: quitImage, grace: 4 },
  }),
};
for (const [name, { outcome, words, when = 'ready' }] of Object.entries(table))
  situations[name] = { words, until: conditions[when], outcome };

describe.runIf(isWanted && file !== '')('on a node whose runtime log is at hand', () => {
  const mistakes = new Map<string, Promise<string[]>>();

  beforeAll(() => {
    kubectl(['create', 'namespace', namespace]);
    const lanes = Array.from({ length: 4 }, () => Promise.resolve<unknown>(undefined));
    for (const [index, [name, situation]] of Object.entries(situations).entries()) {
      const found = lanes[index % lanes.length]!.then(() => mistakesIn(name, situation));
      mistakes.set(name, found);
      lanes[index % lanes.length] = found.catch(() => {});
    }
  });

  afterAll(() => {
    const count = (instant: Held['instant']): string => {
      const hits = held.filter((one) => one.instant === instant).map(({ hit }) => hit);
      return `${hits.filter(Boolean).length} inside / ${hits.filter((hit) => !hit).length} outside`;
    };
    process.stdout.write(`exits ${count('exit')}, stop signals ${count('stop-signal')}, kills ${count('kill')}\n`);
    kubectl(['patch', 'pod', 'finalizer', '-n', namespace, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    kubectl(['delete', 'namespace', namespace, '--wait=false']);
  });

  it.each(Object.keys(situations))('%s', { timeout: 600_000 }, async (name) => {
    expect(await mistakes.get(name)).toEqual([]);
  });
});

async function mistakesIn(name: string, situation: Situation): Promise<string[]> {
  const { run, until = conditions.ready, words = [], others, outcome } = situation;
  const text = run === undefined ? manifest(name) : JSON.stringify(objectOf(name, { ...situation, run }));
  kubectl(['apply', '-n', namespace, '-f', '-'], text);
  const pod = await podOf(name, namespace, until);
  const { target = [pod] } = situation;
  const ran = podexit([...target, '-n', namespace, '-o', 'json', '--timeout=120s', ...words], environment);
  await pause(2500);
  if (others) await kubectlMeanwhile([...others, '-n', namespace]);
  const { stdout, stderr } = await ran;
  if (!stdout.startsWith('{')) return [`no report: ${stdout}${stderr}`];
  const report = JSON.parse(stdout) as ExitReport | { kind: 'RolloutReport'; exits: ExitReport[] };
  const exits = report.kind === 'RolloutReport' ? report.exits : [report];
  return exits.length === 0 ? ['no exits'] : exits.flatMap((exit) => mistakesOf(exit, outcome));
}

function mistakesOf(report: ExitReport, expected: Outcome | undefined): string[] {
  const truths = truthsOf(file, report.pod.uid);
  const own = heldAgainst(report, truths);
  held.push(...own);
  const wrong = own.filter(({ hit }) => !hit).map(({ container, instant }) => `${container}: ${instant} outside`);
  const outcome = expected ?? outcomeOf(truths);
  if (report.verdict.outcome !== outcome) wrong.push(`${report.verdict.outcome}, and the log says ${outcome}`);
  for (const container of report.containers)
    wrong.push(
      ...mistakesAbout(
        container,
        truths.find((truth) => truth.container === container.name),
        expected,
      ),
    );
  for (const [clock, { offsetMs }] of Object.entries(report.clocks))
    if (offsetMs.min > 0 || offsetMs.max < 0) wrong.push(`the ${clock} clock is this machine's, ${offsetMs.min} ms`);
  return wrong.length === 0 ? [] : [...wrong, JSON.stringify({ truths, containers: report.containers }, null, 1)];
}

type ContainerReport = ExitReport['containers'][number];

function mistakesAbout(claimed: ContainerReport, truth: Truth | undefined, expected: Outcome | undefined): string[] {
  const { name, outcome, stopSignal, kill, drainSeconds } = claimed;
  const { stop_signal_sent: sent, sigkill_sent: killed, exited } = truth ?? {};
  // What a hook has ended is signalled once more, and drains nothing.
  const drain = sent && exited ? Math.max(0, nanoTime(exited) - nanoTime(sent)) / 1000 : NaN;
  return [
    ...(stopSignal && sent === undefined ? [`${name}: no stop signal was sent`] : []),
    ...(kill && killed === undefined ? [`${name}: nothing was killed`] : []),
    ...(drainSeconds && (drain < drainSeconds.min || drain > drainSeconds.max)
      ? [`${name}: drained for ${drain}`]
      : []),
    ...(expected !== 'forced' && outcome !== containerOutcomeOf(truth) ? [`${name}: ${outcome}`] : []),
  ];
}

function outcomeOf(truths: readonly Truth[]): Outcome {
  const ends = new Set(truths.map(containerOutcomeOf));
  if (ends.has('killed')) return 'killed';
  if (ends.has('failed')) return 'failed';
  return [...ends].every((end) => end === 'not-running') ? 'removed' : 'graceful';
}

const signals: Record<string, number> = { terminated: 15, quit: 3 };

function containerOutcomeOf(truth: Truth | undefined): ContainerOutcome {
  if (truth?.stop_requested === undefined) return 'not-running';
  if (truth.exit_status === 0) return 'completed';
  if (truth.exit_status === 137 && truth.sigkill_sent !== undefined) return 'killed';
  return truth.exit_status === 128 + (signals[truth.signal ?? 'terminated'] ?? 0) ? 'signalled' : 'failed';
}
