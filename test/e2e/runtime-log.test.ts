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
import type { Truth } from '../../src/demo/scenarios.ts';
import { podexit } from '../helpers/built.ts';
import { casesIn } from '../helpers/case-file.ts';
import { environment, isWanted, kubectl, kubectlMeanwhile, newNamespace, pause } from '../helpers/cluster.ts';
import { truthsOf } from '../helpers/containerd-log.ts';
import { heldAgainst, nanoTime, type Held } from '../helpers/truth.ts';
import { conditions, manifest, objectOf, podOf, table, type Programs } from './scenarios.ts';

/** See runtime-log.yaml. Without programs: the manifest of this name. */
interface Situation extends Partial<Programs> {
  until?: string;
  target?: string[];
  words?: string[];
  others?: string[];
  outcome?: Outcome;
  /** Runs in PODEXIT_E2E_QUIT_IMAGE. */
  needsQuitImage?: true;
}

const file = process.env['PODEXIT_E2E_CONTAINERD_LOG'] ?? '';
const quitImage = process.env['PODEXIT_E2E_QUIT_IMAGE'];
const namespace = newNamespace();
/** Of all situations. */
const held: Held[] = [];

const situations: Record<string, Situation> = {};
for (const [name, one] of casesIn<Situation>(new URL('runtime-log.yaml', import.meta.url)))
  if (!one.needsQuitImage || quitImage) situations[name] = { ...one, ...(one.needsQuitImage && { image: quitImage }) };
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
