/** What runs of the command print, in test/cli/sessions: a new case is a few lines there. */
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { casesIn, pattern } from '../helpers/case-file.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { serving, type Serving } from '../helpers/serving.ts';
import type { FaultyOptions } from '../sim/faults/faulty-server.ts';
import { runMain } from './helpers/in-process.ts';

/** What is typed, and what must come of it. POD, FOLDER and RECORDING(name) stand for themselves in words. */
interface Run {
  run: string;
  /** At a terminal, in order. */
  answers?: string[];
  env?: Record<string, string>;
  code?: number;
  /** Patterns; an empty one: nothing is printed. */
  stdout?: string;
  stderr?: string;
  /** In neither of them. */
  never?: string;
  /** A part of the document on stdout. */
  json?: object;
  /** How many deletions the server has accepted by then. */
  deletes?: number;
  /** The methods of all requests by then. */
  asks?: string[];
}

interface Session extends Run {
  /** The recording that a server plays; without one there is no cluster. */
  of?: string;
  with?: Partial<FaultyOptions>;
  /** Files in the working folder. */
  files?: Record<string, string>;
  /** Further runs in the same cluster. */
  then?: Run[];
}

const ofRun = ['run', 'answers', 'env', 'code', 'stdout', 'stderr', 'never', 'json', 'deletes', 'asks'] as const;
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

async function check(one: Run, at: string, cluster?: Serving): Promise<void> {
  const { answers, env = {} } = one;
  const place = { flags: cluster?.flags ?? [], pod: cluster?.server.pod ?? '', at };
  const ran = await runMain(wordsOf(one.run, place), { env, ...(answers && { answers: [...answers] }) });
  const { stdout, stderr } = ran;
  expect(stderr).not.toMatch(/^\s+at |unexpected error/m);
  if (one.code !== undefined) expect(ran.code, stderr).toBe(one.code);
  if (one.stdout !== undefined) expectText(stdout, one.stdout);
  if (one.stderr !== undefined) expectText(stderr, one.stderr);
  if (one.never !== undefined) expect(`${stdout}${stderr}`).not.toMatch(pattern(one.never));
  if (one.json) expect(JSON.parse(stdout)).toMatchObject(one.json);
  if (one.deletes !== undefined) expect(cluster?.server.deletesAccepted).toBe(one.deletes);
  if (one.asks) expect(cluster?.server.requests.map(({ method }) => method)).toEqual(one.asks);
}

const expectText = (text: string, wanted: string): void =>
  wanted === '' ? expect(text).toBe('') : expect(text).toMatch(pattern(wanted));

for (const file of readdirSync(folder)) {
  const cases = casesIn<Session>(new URL(file, folder), ['of', 'with', 'files', 'then', ...ofRun]);
  describe(file.replace('.yaml', ''), () => {
    it.each(cases)('%s', async (_, { of, with: options = {}, files = {}, then = [], ...first }) => {
      const at = mkdtempSync(join(tmpdir(), 'podexit-'));
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(at, name)), { recursive: true });
        writeFileSync(join(at, name), text);
      }
      process.chdir(at);
      try {
        const all = async (cluster?: Serving) => {
          for (const one of [first, ...then]) await check(one, at, cluster);
        };
        await (of === undefined ? all() : serving(of, options, all));
      } finally {
        process.chdir(before);
      }
    });
  });
}
