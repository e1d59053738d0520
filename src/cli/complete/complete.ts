/** `__complete WORDS…`: what shells and kubectl ask. Candidates one a line, then cobra's directive. Never an error. */
import type { Ports } from '../../run/ports.ts';
import { connectionOf } from '../connection-flags.ts';
import type { Flags } from '../options.ts';
import type { Command } from 'commander';
import { plainWords } from '../words.ts';
import { commandFirst, wantedAt, type Candidate, type Wanted } from './wanted.ts';

/** Of the second that a person waits at most, what the start of two processes leaves. */
const patienceMs = 800;

/** cobra's ShellCompDirective: the shell completes files by itself, or it does not. */
const directives = { files: ':0', nothing: ':4' } as const;

/** `program`: the whole tree of commands. */
export async function complete(argv: readonly string[], program: Command, ports: Ports): Promise<number> {
  const current = argv.at(-1) ?? '';
  const words = commandFirst(argv.slice(0, -1), program);
  const wanted = wantedAt(words, current, program);
  const stop = new AbortController();
  let late = false;
  const patience = new Promise<Candidate[]>((resolve) => {
    const cancel = ports.clock.setTimeout(() => {
      late = true;
      stop.abort();
      resolve([]);
    }, patienceMs);
    stop.signal.addEventListener('abort', cancel);
  });
  const found = await Promise.race([candidates(wanted, words, program, ports, stop.signal).catch(() => []), patience]);
  stop.abort();
  const lines = [...found, ...('also' in wanted ? wanted.also : [])]
    .filter(({ word }) => word.startsWith(current) && isPlain(word))
    .map(({ word, about }) => (about === undefined ? word : `${word}\t${about.replace(/[^\x20-\x7e]+/g, ' ')}`));
  ports.stdout.write(`${[...lines, wanted.kind === 'files' ? directives.files : directives.nothing].join('\n')}\n`);
  // A credential plugin that still runs would keep the shell waiting.
  if (late) ports.leave(0);
  return 0;
}

/** A name that a shell would not take as it stands is no name of Kubernetes. */
const isPlain = (word: string): boolean => /^[\w./:=@+,-]+$/.test(word);

async function candidates(
  wanted: Wanted,
  words: readonly string[],
  program: Command,
  ports: Ports,
  signal: AbortSignal,
): Promise<Candidate[]> {
  if (wanted.kind === 'words') return wanted.words;
  if (wanted.kind === 'scenarios') return scenarios();
  if (wanted.kind === 'topics') return topics();
  if (wanted.kind !== 'names' && wanted.kind !== 'kubeconfig') return [];
  const { namesInCluster, namesInKubeconfig } = await import('../../run/known-names.ts');
  const connection = connectionOf(flagsIn(words, program), ports.version);
  // Completion cannot answer a question, and must not show one.
  const quiet = { ...ports, stdinIsTty: false, stderr: { ...ports.stderr, write: () => {} } };
  const names =
    wanted.kind === 'kubeconfig'
      ? await namesInKubeconfig(wanted.what, connection, quiet)
      : await namesInCluster(wanted.resource, connection, quiet, signal);
  return names.map(({ name, about }) => ({ word: wanted.before + name, ...(about === undefined ? {} : { about }) }));
}

async function scenarios(): Promise<Candidate[]> {
  const { shippedScenarios } = await import('../../demo/scenarios.ts');
  return shippedScenarios.map(({ name, about }) => ({ word: name, about }));
}

async function topics(): Promise<Candidate[]> {
  const { pluralOf, topics: all, topicKinds } = await import('../../verdict/explain/topics.ts');
  const words = [...all.map(({ name }) => name), ...topicKinds.map(pluralOf), 'figures'];
  return [...new Set(words)].map((word) => ({ word }));
}

/** The flags that were typed so far, also behind a command; half a flag is none. */
function flagsIn(words: readonly string[], program: Command): Flags {
  const command = program.commands.find((one) => one.name() === words[0]) ?? program;
  try {
    command.parseOptions(plainWords(words, program));
  } catch {
    // What was read until then is what we know.
  }
  return command.opts();
}
