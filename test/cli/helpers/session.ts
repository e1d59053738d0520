/** A run of the command that a case writes down, and what must come of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CheckReport } from '../../../src/advice/check-report.ts';
import { isProblem } from '../../../src/advice/problem.ts';
import { pattern } from '../../helpers/case-file.ts';
import { recordingFile } from '../../helpers/recordings.ts';
import { pressOnce, runMain, type Printed } from './in-process.ts';

/** What is typed, and what must come of it. POD, FOLDER and RECORDING(name) stand for themselves in words. */
export interface Run {
  run: string;
  /** At a terminal, in order. */
  answers?: string[];
  /** The width of the terminal at stdout, which no line exceeds; absent: stdout is a pipe. */
  columns?: number;
  env?: Record<string, string>;
  /** Ctrl-C is pressed as soon as a request with this method, or for this resource, has arrived. */
  interruptedAt?: string;
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
  /** Codes of the problems that a check finds and, among others, does not find. */
  problems?: string[];
  noProblems?: string[];
  /** How many deletions the server has accepted by then. */
  deletes?: number;
  /** The methods of all requests by then. */
  asks?: string[];
}

export const fieldsOfRun = [
  ...(['run', 'answers', 'columns', 'env', 'interruptedAt', 'code', 'stdout', 'stderr', 'never', 'json'] as const),
  ...(['leaves', 'problems', 'noProblems', 'deletes', 'asks'] as const),
];
/** What a session needs to know of its cluster. */
export interface Cluster {
  flags: string[];
  pod: string;
  methods(): string[];
  /** Methods and resources of all requests. */
  asked(): (string | undefined)[];
  deletes(): number;
}

export const noCluster: Cluster = { flags: [], pod: '', methods: () => [], asked: () => [], deletes: () => 0 };

export async function check(one: Run, at: string, cluster: Cluster): Promise<Printed> {
  const { answers, columns, env = {}, interruptedAt: method } = one;
  const ran = await runMain(wordsOf(one.run, { ...cluster, at }), {
    env,
    ...(answers && { answers: [...answers] }),
    ...(columns !== undefined && { columns }),
    ...(method !== undefined && { onSignal: pressOnce(() => cluster.asked().includes(method)) }),
  });
  const { stdout, stderr } = ran;
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
  if (one.asks) expect(cluster.methods()).toEqual(one.asks);
  return ran;
}

const problemsIn = (json: string): string[] =>
  (JSON.parse(json) as CheckReport).checks.flatMap(({ findings }) =>
    findings.filter(isProblem).map(({ code }) => code),
  );

const expectText = (text: string, wanted: string): void =>
  wanted === '' ? expect(text).toBe('') : expect(text).toMatch(pattern(wanted));

/** Words as in a shell, where only quotes around a word are special. Flags of the cluster stand for FLAGS, or at the end. */
function wordsOf(text: string, { flags, pod, at }: { flags: string[]; pod: string; at: string }): string[] {
  const words = [...text.matchAll(/(["'])(.*?)\1|(\S+)/g)].map(([, , quoted, plain]) =>
    (quoted ?? plain ?? '')
      .replaceAll('POD', pod)
      .replaceAll('FOLDER', at)
      .replace(/^RECORDING\((.*)\)$/, (_, name: string) => recordingFile(name)),
  );
  return words.includes('FLAGS') ? words.flatMap((word) => (word === 'FLAGS' ? flags : [word])) : [...words, ...flags];
}
