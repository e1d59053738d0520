/** A run of the command that a case writes down, and what must come of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CheckReport } from '../../../src/advice/check-report.ts';
import { isProblem } from '../../../src/advice/problem.ts';
import type { Truth } from '../../../src/demo/scenarios.ts';
import type { ExitReport } from '../../../src/model/report.ts';
import { systemClock } from '../../../src/run/clock.ts';
import { pattern } from '../../helpers/case-file.ts';
import { clockOfTest } from '../../helpers/patient-clock.ts';
import { recordingFile } from '../../helpers/recordings.ts';
import { heldAgainst, type Held } from '../../helpers/truth.ts';
import { pressOnce, runMain, type Printed } from './in-process.ts';

/** What is typed, and what must come of it. POD, FOLDER and RECORDING(name) stand for themselves in words. */
export interface Run {
  run: string;
  /** At a terminal, in order. */
  answers?: string[];
  /** ms before each answer. */
  thinks?: number;
  /** The width of the terminal at stdout, which no line exceeds; absent: stdout is a pipe. */
  columns?: number;
  env?: Record<string, string>;
  /** Ctrl-C is pressed as soon as a request with this method, or for this resource, has arrived. */
  interruptedAt?: string;
  /** Ctrl-C is pressed as soon as this pattern was printed. */
  interruptedAfter?: string;
  code?: number;
  /** Patterns; an empty one: nothing is printed. */
  stdout?: string;
  stderr?: string;
  /** In neither of them. */
  never?: string;
  /** A part of the document on stdout. */
  json?: object;
  /** Files of the working folder by then, with patterns of what they hold. */
  leaves?: Record<string, string>;
  /** Stdout is that of the run before, to the byte. */
  same?: true;
  /** Seconds: at least, and at most. */
  takes?: [least: number, most: number];
  /** Codes of the problems that a check finds and, among others, does not find. */
  problems?: string[];
  noProblems?: string[];
  /** How many deletions the server has accepted by then. */
  deletes?: number;
  /** The methods of all requests by then. */
  asks?: string[];
  /** A part of the body of its deletion. */
  sends?: object;
}

export const fieldsOfRun = [
  ...(['run', 'answers', 'thinks', 'columns', 'env', 'interruptedAt', 'interruptedAfter', 'code', 'stdout'] as const),
  ...(['stderr', 'never', 'json', 'leaves', 'same', 'takes', 'problems', 'noProblems', 'deletes', 'asks'] as const),
  'sends' as const,
];

/** What a session needs to know of its cluster. */
export interface Cluster {
  flags: string[];
  pod: string;
  requests(): readonly { method: string; resource?: string; body?: string }[];
  deletes(): number;
  /** True instants of its containers, which a report of a run here contains. */
  truths(): Truth[];
}

export const noCluster: Cluster = { flags: [], pod: '', requests: () => [], deletes: () => 0, truths: () => [] };

/** `before`: the run before this one. */
export async function check(one: Run, at: string, cluster: Cluster, before?: Printed): Promise<Printed> {
  const { answers, thinks = 0, columns, env = {}, interruptedAt, interruptedAfter } = one;
  const clock = clockOfTest.getStore() ?? systemClock;
  const left = [...(answers ?? [])];
  let printed = '';
  const isTime = (): boolean =>
    interruptedAfter === undefined
      ? cluster.requests().some(({ method, resource }) => [method, resource].includes(interruptedAt))
      : pattern(interruptedAfter).test(printed);
  const began = clock.now();
  const ran = await runMain(wordsOf(one.run, { ...cluster, at }), {
    env,
    ...(answers && { answers: left }),
    ...(thinks > 0 && { ask: () => new Promise((resolve) => clock.setTimeout(() => resolve(left.shift()), thinks)) }),
    ...(columns !== undefined && { columns }),
    ...((interruptedAt ?? interruptedAfter) !== undefined && { onSignal: pressOnce(isTime) }),
    onStdout: (text) => void (printed += text),
    onStderr: (text) => void (printed += text),
  });
  const { stdout, stderr } = ran;
  const took = (clock.now() - began) / 1000;
  expect(stderr).not.toMatch(/^\s+at |unexpected error/m);
  if (one.code !== undefined) expect(ran.code, stderr).toBe(one.code);
  if (one.stdout !== undefined) expectText(stdout, one.stdout);
  if (one.stderr !== undefined) expectText(stderr, one.stderr);
  if (one.never !== undefined) expect(`${stdout}${stderr}`).not.toMatch(pattern(one.never));
  const widths = stdout.split('\n').map((line) => line.length);
  if (columns !== undefined) expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
  if (one.json) expect(JSON.parse(stdout)).toMatchObject(one.json);
  for (const [file, wanted] of Object.entries(one.leaves ?? {}))
    expectText(readFileSync(join(at, file), 'utf8'), wanted);
  if (one.problems) expect(problemsIn(stdout)).toEqual(expect.arrayContaining(one.problems));
  if (one.noProblems) for (const code of one.noProblems) expect(problemsIn(stdout)).not.toContain(code);
  if (one.deletes !== undefined) expect(cluster.deletes()).toBe(one.deletes);
  const requests = cluster.requests();
  if (one.asks) expect(requests.map(({ method }) => method)).toEqual(one.asks);
  const sent = requests.findLast(({ method }) => method === 'DELETE');
  if (one.sends) expect(JSON.parse(sent?.body ?? '{}')).toMatchObject(one.sends);
  if (one.same) expect(stdout).toBe(before?.stdout);
  if (one.takes) expect([took > one.takes[0], took < one.takes[1]], `${took} s`).toEqual([true, true]);
  if (/^\{\n[^]*"kind": "(Exit|Rollout)Report"/.test(stdout)) expect(missedIn(stdout, cluster.truths())).toEqual([]);
  return ran;
}

/** Instants that are not in the interval that the report of an exit or a rollout has for them. */
const missedIn = (json: string, truths: readonly Truth[]): Held[] => {
  const document = JSON.parse(json) as ExitReport | { exits: ExitReport[] };
  return ('exits' in document ? document.exits : [document])
    .flatMap((one) =>
      heldAgainst(
        one,
        truths.filter(({ pod }) => pod === one.pod.name),
      ),
    )
    .filter(({ hit }) => !hit);
};

const problemsIn = (json: string): string[] =>
  (JSON.parse(json) as CheckReport).checks.flatMap(({ findings }) =>
    findings.filter(isProblem).map(({ code }) => code),
  );

const expectText = (text: string, wanted: string): void =>
  wanted === '' ? expect(text).toBe('') : expect(text).toMatch(pattern(wanted));

/**
 * Words as in a shell, where only quotes around a word are special. Flags of the cluster stand for FLAGS, or at the end; a
 * replay has none.
 */
function wordsOf(text: string, { flags, pod, at }: { flags: string[]; pod: string; at: string }): string[] {
  const words = [...text.matchAll(/(["'])(.*?)\1|(\S+)/g)].map(([, , quoted, plain]) =>
    (quoted ?? plain ?? '')
      .replaceAll('POD', pod)
      .replaceAll('FOLDER', at)
      .replace(/^RECORDING\((.*)\)$/, (_, name: string) => recordingFile(name)),
  );
  if (words[0] === 'replay') return words;
  return words.includes('FLAGS') ? words.flatMap((word) => (word === 'FLAGS' ? flags : [word])) : [...words, ...flags];
}
