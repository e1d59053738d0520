/** What runs of the command print, in test/cli/sessions: a new case is a few lines there. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CheckReport } from '../../src/advice/check-report.ts';
import { isProblem } from '../../src/advice/problem.ts';
import { casesIn, pattern } from '../helpers/case-file.ts';
import { changeObject, type ObjectChange } from '../helpers/object-changes.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { clockOfTest, patientClock } from '../helpers/patient-clock.ts';
import type { Serving } from '../helpers/serving.ts';
import { servingPatiently } from '../helpers/serving-patiently.ts';
import type { FaultyOptions } from '../sim/faults/faulty-server.ts';
import { type Answer, serveAnswers } from '../kube/helpers/scripted-api.ts';
import { runMain, pressOnce } from './helpers/in-process.ts';

/** What is typed, and what must come of it. POD, FOLDER and RECORDING(name) stand for themselves in words. */
interface Run {
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

interface Session extends Run {
  /** The recording that a server plays; without one there is no cluster. */
  of?: string;
  with?: Partial<FaultyOptions>;
  /** What happens to its objects before the first run. */
  changes?: ObjectChange[];
  /** The answers of another server, which is the cluster instead. */
  api?: Answer[];
  /** Files in the working folder. */
  files?: Record<string, string>;
  /** Further runs in the same cluster. */
  then?: Run[];
}

const ofRun = [
  ...(['run', 'answers', 'columns', 'env', 'interruptedAt', 'code', 'stdout', 'stderr', 'never', 'json'] as const),
  ...(['leaves', 'problems', 'noProblems', 'deletes', 'asks'] as const),
];
const folder = new URL('sessions/', import.meta.url);
const before = process.cwd();

/** Words as in a shell, where only quotes are special. Flags of the cluster stand for FLAGS, or at the end. */
function wordsOf(text: string, { flags, pod, at }: { flags: string[]; pod: string; at: string }): string[] {
  const words = [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) =>
    (quoted ?? plain ?? '')
      .replaceAll('POD', pod)
      .replaceAll('FOLDER', at)
      .replace(/^RECORDING\((.*)\)$/, (_, name: string) => recordingFile(name)),
  );
  return words.includes('FLAGS') ? words.flatMap((word) => (word === 'FLAGS' ? flags : [word])) : [...words, ...flags];
}

/** What a session needs to know of its cluster. */
interface Cluster {
  flags: string[];
  pod: string;
  methods(): string[];
  /** Methods and resources of all requests. */
  asked(): (string | undefined)[];
  deletes(): number;
}

const noCluster: Cluster = { flags: [], pod: '', methods: () => [], asked: () => [], deletes: () => 0 };

const played = ({ flags, server }: Serving): Cluster => ({
  flags,
  pod: server.pod,
  methods: () => server.requests.map(({ method }) => method),
  asked: () => server.requests.flatMap(({ method, resource }) => [method, resource]),
  deletes: () => server.deletesAccepted,
});

async function check(one: Run, at: string, cluster: Cluster): Promise<void> {
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
}

const problemsIn = (json: string): string[] =>
  (JSON.parse(json) as CheckReport).checks.flatMap(({ findings }) =>
    findings.filter(isProblem).map(({ code }) => code),
  );

const expectText = (text: string, wanted: string): void =>
  wanted === '' ? expect(text).toBe('') : expect(text).toMatch(pattern(wanted));

for (const file of readdirSync(folder)) {
  const cases = casesIn<Session>(new URL(file, folder), ['of', 'with', 'changes', 'api', 'files', 'then', ...ofRun]);
  describe(file.replace('.yaml', ''), () => {
    it.each(cases)('%s', async (_, { of, with: options = {}, changes = [], api, files = {}, then = [], ...first }) => {
      const at = mkdtempSync(join(tmpdir(), 'podexit-'));
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(at, name)), { recursive: true });
        writeFileSync(join(at, name), text);
      }
      process.chdir(at);
      try {
        const all = async (cluster: Cluster) => {
          for (const one of [first, ...then]) await check(one, at, cluster);
        };
        if (api) await clockOfTest.run(patientClock(10), async () => all(await answering(api)));
        else if (of === undefined) await all(noCluster);
        else
          await servingPatiently(of, options, async (one) => {
            for (const change of changes) await changeObject(one.server, change);
            await all(played(one));
          });
      } finally {
        process.chdir(before);
      }
    });
  });
}

async function answering(answers: Answer[]): Promise<Cluster> {
  const { url, asked } = await serveAnswers(answers);
  const flags = ['-n', 'shop', '--server', url, '--no-config'];
  const methods = () => asked.map(({ method }) => method);
  return { ...noCluster, flags, methods, asked: methods };
}
