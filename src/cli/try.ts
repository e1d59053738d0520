/** `try`: proves a patch on throwaway copies. */
import type { TryOptions } from '../try/try.ts';
import { addClusterFlags, clusterOptions, collect } from './connection-flags.ts';
import { newCommand, type AddCommand, type Flags } from './command.ts';
import { addDocumentFlags, documentOptions } from './options.ts';
import { probesFrom } from './probe-flags.ts';
import { addManifestFlags, manifestsIn, nothingTo, parseTarget } from './target.ts';
import { parseDuration, severalOf, usageError, valueOf, valuesByCommand } from './usage.ts';
import { whileWaiting, type Ports } from '../run/ports.ts';

const examples = `Examples:
  kubectl podexit try deployment/checkout                         what fix proposes
  kubectl podexit try deployment/checkout --patch patch.yaml      your own patch
  kubectl podexit try deployment/checkout --image checkout:2      a new build
  kubectl podexit try -f web.yaml --yes --fail-on worse           for a pipeline
  kubectl podexit try --cleanup                                   what a killed run left

It creates two copies, deletes their pods and counts lost requests. Nothing of
the workload itself changes, and the copies are removed again.
`;

const failures = valuesByCommand['try --fail-on'];

export const addTry: AddCommand = (program, ports, setExitCode) => {
  const command = addManifestFlags(
    newCommand(program, 'try [target...]', 'prove a patch on throwaway copies, count lost requests', examples)
      .usage('TARGET | -f FILE [flags]')
      .optionsGroup('What to try:')
      .option('--patch <file>', 'a strategic merge or JSON patch; default: what fix proposes')
      .option('--image <image>', 'a new image: IMAGE, or CONTAINER=IMAGE if there are several containers'),
  )
    .optionsGroup('How:')
    .option('--runs <n>', 'exits of each copy, from 1 to 100; default: 5')
    .option('--rate <n>', 'requests per second to a copy, from 1 to 500; default: 50')
    .option('--path <path>', 'what is requested; default: /')
    .option('--probe-expect <statuses>', 'HTTP statuses that count as success; default: 200-399')
    .option('--probe-header <header>', 'a header, `Name: value`, or @FILE; may be repeated', collect)
    .option('--probe-timeout <duration>', 'a request without an answer fails after this time; default: 5s')
    .option('--timeout <duration>', 'give up if a copy is not ready after this time; default: 3m')
    .option('--dry-run <how>', 'client: print the manifests of the copies, create nothing')
    .option('-y, --yes', 'do not ask before creating the copies')
    .option('--cleanup', 'only remove the copies that earlier tries left, of TARGET or of the whole namespace')
    .option('--fail-on <what,…>', `${failures.join(', ')}: exit 5 if so; may be repeated`, collect);
  addClusterFlags(addDocumentFlags(command, 'try')).action(async (words: string[], flags: Flags) => {
    const options = await optionsOf(words, flags, ports);
    const { tryPatch } = await import('../try/try.ts');
    setExitCode(await whileWaiting('trying the patch', ports, (quiet) => tryPatch(options, quiet)));
  });
};

async function optionsOf(words: readonly string[], flags: Flags, { env, version }: Ports): Promise<TryOptions> {
  const { input: manifests, target: named } = manifestsIn(flags, words);
  const { cleanup = false, path = '/' } = flags;
  if (named.length === 0 && !manifests && !cleanup) throw nothingTo('try', 'deployment/NAME or -f FILE');
  if (!path.startsWith('/')) throw usageError('path', `--path: "${path.slice(0, 80)}" does not begin with /`);
  if (flags.dryRun !== undefined && valueOf(flags.dryRun, '--dry-run') === 'server')
    throw usageError(
      'dry-run',
      '--dry-run=server is not supported here',
      'Use --dry-run=client: it prints what to create.',
    );
  const [settings] = await probesFrom(
    { probeTimeout: '5s', ...flags, probe: ['service/copy'], probeInsecure: true },
    env,
  );
  if (!settings) throw usageError('probe', 'no probe');
  const { target: _, ...probe } = settings;
  const timeoutMs = parseDuration(flags.timeout ?? '3m', '--timeout');
  return {
    target: named.length > 0 ? parseTarget(named) : undefined,
    manifests,
    proposal: { patch: flags.patch, image: flags.image },
    runs: countOf(flags.runs ?? '5', '--runs', 100),
    probe: { ...probe, ratePerSecond: countOf(flags.rate ?? '50', '--rate', 500) },
    ...{ path, cleanup },
    timeoutMs: timeoutMs === 0 ? Infinity : timeoutMs,
    yes: flags.yes ?? false,
    dryRun: flags.dryRun !== undefined && flags.dryRun !== 'none',
    failOn: severalOf(flags.failOn, failures, '--fail-on'),
    ...clusterOptions(flags, version),
    ...(await documentOptions(flags, 'try')),
  };
}

function countOf(text: string, flag: string, most: number): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  throw usageError('value', `${flag} must be from 1 to ${most}`);
}
