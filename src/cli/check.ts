/**
 * The commands that read manifests: `check` predicts shutdown problems from a spec, without a shutdown; `fix` prints a patch
 * for them; `try` proves a patch on throwaway copies.
 */
import type { CheckOptions, CheckSource } from '../advice/check.ts';
import { whileWaiting, type Ports } from '../run/ports.ts';
import { decideGrace, pickOf } from './delete-flags.ts';
import { flagOf, parseDuration, usageError, oneOf, severalOf, valuesByCommand, valueOf } from './usage.ts';
import { readConfig, findingsIn, policyFrom } from './pipeline-flags.ts';
import { clusterOptions, documentOptions } from './options.ts';
import { manifestFlags, manifestsIn, nothingTo, parseTarget } from './target.ts';
import { newCommand, type AddCommand } from './command.ts';
import { clusterFlags, documentFlags, targetFlags, type FlagsOf } from './flags.ts';
import type { FixOptions } from '../advice/fix/fix.ts';
import type { TryOptions } from '../try/try.ts';
import { probesFrom } from './probe-flags.ts';

const checkExamples = `Examples:
  kubectl podexit check deployment/checkout            a workload's template
  kubectl podexit check -f deploy/ --fail-on any       manifests, for a pipeline
  helm template . | kubectl podexit check -f -         what a chart makes
  kubectl podexit check -k overlays/prod               what a kustomization builds
  kubectl podexit check -n shop --all                  every workload, worst first
  kubectl podexit check web-0 --evict                  a pod: would an eviction be allowed?
  kubectl podexit check web-0 --inspect                and does PID 1 handle its signal?

A check reads a spec and cannot know whether an application stops in time.
Exit codes: 0 whatever it finds; 5 if --fail-on or another gate fails; 1 if input cannot be read.
`;

const checkFlags = {
  'What to check:': {
    ...manifestFlags,
    '--all': 'every workload of the namespace',
    '--inspect': 'run cat in each container of the pod, to see whether PID 1 handles its stop signal',
  },
  ...targetFlags,
  'For which deletion:': {
    '--grace-period <seconds>': "with this grace period; default: the pod's own",
    '--evict': 'for an eviction, which respects PodDisruptionBudgets',
    '--timeout <duration>': 'for a caller that gives up after this time',
  },
  'Pipelines:': {
    '--fail-on <code,…>': 'exit 5 for these findings; error, warning or any: all of that severity; may be repeated',
    '--warn-only': 'exit 0 where --fail-on would make it 5',
    '--config <file>': 'read fail-on from this file; default: .podexit.yaml, if it exists',
    '--no-config': 'read no config file',
    // A pipeline may pass the limits of an exit to all commands, but a check cannot judge them.
    ...{ '--max-duration <duration>': '', '--max-grace-used <percent>': '', '--min-drain-lead <duration>': '' },
    '--no-warn-only': '',
  },
  ...documentFlags('check'),
  ...clusterFlags,
};

type CheckFlags = FlagsOf<typeof checkFlags>;

export const addCheck: AddCommand = (program, ports, setExitCode) => {
  const about = 'predict shutdown problems, delete nothing';
  const command = newCommand(program, 'check [target...]', about, checkExamples, checkFlags);
  command.usage('TARGET | -f FILE | -k FOLDER | --all [flags]');
  command.action(async (words: string[], flags: CheckFlags) => {
    const { check: run } = await import('../advice/check.ts');
    const options = await checkOptions(words, flags, ports);
    setExitCode(await whileWaiting('reading what to check', ports, (quiet) => run(options, quiet)));
  });
};

async function checkOptions(words: readonly string[], flags: CheckFlags, { version }: Ports): Promise<CheckOptions> {
  const { failOnWords } = await import('../advice/problem.ts');
  const { words: inFile } = await readConfig(flags.config);
  const { graceSeconds } = decideGrace(flags);
  const limits = (['maxDuration', 'maxGraceUsed', 'minDrainLead'] as const).filter(
    (name) => (flags[name] ?? inFile[name]) !== undefined,
  );
  // Only for its errors: an invalid limit is refused, though only an exit can break it.
  await policyFrom({ ...flags, failOn: undefined, config: false });
  const timeout = flags.timeout === undefined ? 0 : parseDuration(flags.timeout, '--timeout');
  return {
    source: sourceOf(words, flags),
    ...clusterOptions(flags, version),
    graceSeconds: graceSeconds ?? undefined,
    timeoutMs: timeout > 0 ? timeout : null,
    evict: flags.evict ?? false,
    inspect: flags.inspect ?? false,
    failOn: findingsIn(flags.failOn ?? inFile.failOn ?? [], failOnWords, '--fail-on'),
    limits: limits.map((name) => flagOf(name).slice('--'.length)),
    warnOnly: flags.warnOnly ?? inFile.warnOnly ?? false,
    ...(await documentOptions(flags, 'check')),
  };
}

function sourceOf(words: readonly string[], flags: CheckFlags): CheckSource {
  const { all = false } = flags;
  const { input, target } = manifestsIn(flags, words, /\.(ya?ml|json)$|\/$|^\.{0,2}\//i);
  const others = [input && (flags.kustomize ? '-k' : '-f'), all && '--all', target.length > 0 && 'a target'].filter(
    Boolean,
  );
  if (others.length > 1)
    throw usageError('check', `${others.join(' and ')} cannot be given together`, 'Leave out one of them.');
  if (flags.inspect && (input || all))
    throw usageError('inspect', '--inspect reads the containers of one running pod', 'Name a pod or a workload.');
  if (input) return { kind: 'files', input };
  if (all) return { kind: 'all' };
  if (target.length === 0 && flags.selector === undefined && flags.fieldSelector === undefined)
    throw nothingTo('check', 'POD, deployment/NAME, -l SELECTOR, -f FILE, -k FOLDER or --all');
  return { kind: 'target', target: parseTarget(target, flags), pick: pickOf(flags) };
}

const fixExamples = `Examples:
  kubectl podexit fix deployment/checkout                a strategic merge patch
  kubectl podexit fix -f deploy/ --diff                  what would change in these files
  kubectl podexit fix -f web.yaml -o yaml > fixed.yaml   the file, with comments and order kept
  kubectl podexit fix deployment/checkout -o kustomize   a component for an overlay
  kubectl podexit fix exit.json                          what a report or a recording proposes from its measurements

Nothing is ever applied. Each change has a comment that says why.
`;

const fixFormats = valuesByCommand['fix --output'];

const fixFlags = {
  'What to fix:': manifestFlags,
  'Output:': {
    '-o, --output <format>': `${fixFormats.join(', ')}; default: strategic`,
    '--allow <fields>': 'also change replicas or strategy, where nothing speaks against it: replicas,strategy',
    '--diff': 'a unified diff of the manifests instead',
  },
  ...clusterFlags,
};

type FixFlags = FlagsOf<typeof fixFlags>;

export const addFix: AddCommand = (program, ports, setExitCode) => {
  const about = 'print the patch for what check finds, apply nothing';
  const command = newCommand(program, 'fix [target...]', about, fixExamples, fixFlags);
  command.usage('TARGET | REPORT | -f FILE | -k FOLDER [flags]');
  command.action(async (words: string[], flags: FixFlags) => {
    const { fix: run } = await import('../advice/fix/fix.ts');
    const { readRecording } = await import('../run/recorded-run.ts');
    const options: FixOptions = {
      source: fixSource(words, flags),
      format: oneOf(flags.output ?? 'strategic', fixFormats, '-o'),
      diff: flags.diff ?? false,
      allowed: severalOf(flags.allow ? [flags.allow] : [], ['replicas', 'strategy'] as const, '--allow'),
      ...clusterOptions(flags, ports.version),
      readRecording,
    };
    setExitCode(await run(options, ports));
  });
};

function fixSource(words: readonly string[], flags: FixFlags): FixOptions['source'] {
  const { input, target } = manifestsIn(flags, words);
  if (input && target.length > 0)
    throw usageError('fix', '-f or -k and a target cannot be given together', 'Leave out one of them.');
  if (input?.kustomization !== undefined && (flags.diff || flags.output === 'yaml'))
    throw usageError(
      'fix',
      `${flags.diff ? '--diff' : '-o yaml'} edits files, and what -k builds is in none`,
      'Use -o strategic, -o json-patch, or -o kustomize, whose component you add to the kustomization.',
    );
  if (input) return { kind: 'files', input };
  if (words.length === 0) throw nothingTo('fix', 'POD, deployment/NAME, -f FILE, -k FOLDER or REPORT.json');
  const [first = ''] = words;
  // A report or a recording: no Kubernetes name ends like this in practice.
  if (words.length === 1 && /\.(nd)?json$/.test(first)) return { kind: 'report', file: first };
  return { kind: 'target', target: parseTarget(words) };
}

const tryExamples = `Examples:
  kubectl podexit try deployment/checkout                         what fix proposes
  kubectl podexit try deployment/checkout --patch patch.yaml      your own patch
  kubectl podexit try deployment/checkout --image checkout:2      a new build
  kubectl podexit try -f web.yaml --yes --fail-on worse           for a pipeline
  kubectl podexit try --cleanup                                   what a killed run left

It creates two copies, deletes their pods and counts lost requests. Nothing of
the workload itself changes, and the copies are removed again.
`;

const tryFailures = valuesByCommand['try --fail-on'];

const tryFlags = {
  'What to try:': {
    '--patch <file>': 'a strategic merge or JSON patch; default: what fix proposes',
    '--image <image>': 'a new image: IMAGE, or CONTAINER=IMAGE if there are several containers',
    ...manifestFlags,
  },
  'How:': {
    '--runs <n>': 'exits of each copy, from 1 to 100; default: 5',
    '--rate <n>': 'requests per second to a copy, from 1 to 500; default: 50',
    '--path <path>': 'what is requested; default: /',
    '--probe-expect <statuses>': 'HTTP statuses that count as success; default: 200-399',
    '--probe-header <header>': 'a header, `Name: value`, or @FILE; may be repeated',
    '--probe-timeout <duration>': 'a request without an answer fails after this time; default: 5s',
    '--timeout <duration>': 'give up if a copy is not ready after this time; default: 3m',
    '--dry-run <how>': 'client: print the manifests of the copies, create nothing',
    '-y, --yes': 'do not ask before creating the copies',
    '--cleanup': 'only remove the copies that earlier tries left, of TARGET or of the whole namespace',
    '--fail-on <what,…>': `${tryFailures.join(', ')}: exit 5 if so; may be repeated`,
  },
  ...documentFlags('try'),
  ...clusterFlags,
};

type TryFlags = FlagsOf<typeof tryFlags>;

export const addTry: AddCommand = (program, ports, setExitCode) => {
  const about = 'prove a patch on throwaway copies, count lost requests';
  const command = newCommand(program, 'try [target...]', about, tryExamples, tryFlags);
  command.usage('TARGET | -f FILE [flags]');
  command.action(async (words: string[], flags: TryFlags) => {
    const options = await tryOptions(words, flags, ports);
    const { tryPatch } = await import('../try/try.ts');
    setExitCode(await whileWaiting('trying the patch', ports, (quiet) => tryPatch(options, quiet)));
  });
};

async function tryOptions(words: readonly string[], flags: TryFlags, { env, version }: Ports): Promise<TryOptions> {
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
    failOn: severalOf(flags.failOn, tryFailures, '--fail-on'),
    ...clusterOptions(flags, version),
    ...(await documentOptions(flags, 'try')),
  };
}

function countOf(text: string, flag: string, most: number): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  throw usageError('value', `${flag} must be from 1 to ${most}`);
}
