/** `fix`: prints a patch for the problems that a check finds. */
import type { FixOptions } from '../advice/fix/fix.ts';
import { addConnectionFlags, connectionOf } from './connection-flags.ts';
import { addManifestFlags, manifestsIn } from './manifest-flags.ts';
import { oneOf, severalOf, usageError } from './usage.ts';
import { verbosityOf } from './options.ts';
import { parseTarget } from './target.ts';
import type { AddCommand, Flags } from './command.ts';

const examples = `Examples:
  kubectl podexit fix deployment/checkout                a strategic merge patch
  kubectl podexit fix -f deploy/ --diff                  what would change in these files
  kubectl podexit fix -f web.yaml -o yaml > fixed.yaml   the file, with comments and order kept
  kubectl podexit fix deployment/checkout -o kustomize   a component for an overlay
  kubectl podexit fix exit.json                          what a report or a recording proposes from its measurements

Nothing is ever applied. Each change has a comment that says why.
`;

/** The formats of advice/fix/fix.ts, which is loaded only to run. */
export const fixFormats = ['strategic', 'json-patch', 'kustomize', 'yaml'] as const;

export const addFix: AddCommand = (program, ports, setExitCode) => {
  const fix = addManifestFlags(
    program
      .command('fix [target...]')
      .usage('TARGET | REPORT | -f FILE | -k FOLDER [flags]')
      .description('print the patch for what check finds, apply nothing')
      .addHelpText('before', examples)
      .optionsGroup('What to fix:'),
  )
    .optionsGroup('Output:')
    .option('-o, --output <format>', `${fixFormats.join(', ')}; default: strategic`)
    .option('--allow <fields>', 'also change replicas or strategy, where nothing speaks against it: replicas,strategy')
    .option('--diff', 'a unified diff of the manifests instead')
    .option('-v, --v <level>', 'log requests and decisions to stderr, from 1 to 9');
  addConnectionFlags(fix).action(async (words: string[], flags: Flags) => {
    const { fix: run } = await import('../advice/fix/fix.ts');
    const { reportsInRecording: readRecording } = await import('../run/recorded-run.ts');
    const options: FixOptions = {
      source: sourceOf(words, flags),
      format: oneOf(flags.output ?? 'strategic', fixFormats, '-o'),
      diff: flags.diff ?? false,
      allowed: severalOf(flags.allow ? [flags.allow] : [], ['replicas', 'strategy'] as const, '--allow'),
      connection: connectionOf(flags, ports.version),
      verbosity: verbosityOf(flags),
      readRecording,
    };
    setExitCode(await run(options, ports));
  });
};

function sourceOf(words: readonly string[], flags: Flags): FixOptions['source'] {
  const files = words.filter((word) => /\.ya?ml$/i.test(word));
  const areFiles = files.length === words.length;
  const input = manifestsIn(flags, areFiles ? files : []);
  if (input && !areFiles)
    throw usageError('fix', '-f or -k and a target cannot be given together', 'Leave out one of them.');
  if (input?.kustomization !== undefined && (flags.diff || flags.output === 'yaml'))
    throw usageError(
      'fix',
      `${flags.diff ? '--diff' : '-o yaml'} edits files, and what -k builds is in none`,
      'Use -o strategic, -o json-patch, or -o kustomize, whose component you add to the kustomization.',
    );
  if (input) return { kind: 'files', input };
  if (words.length === 0)
    throw usageError(
      'target',
      'nothing to fix was named',
      'Name it: POD, deployment/NAME, -f FILE, -k FOLDER or REPORT.json',
    );
  const [first = ''] = words;
  // A report or a recording: no Kubernetes name ends like this in practice.
  if (words.length === 1 && /\.(nd)?json$/.test(first)) return { kind: 'report', file: first };
  return { kind: 'target', target: parseTarget(words) };
}
