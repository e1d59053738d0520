/** The command tree. Commander parses; what it found becomes typed options and a call into the session. */
import { Command, CommanderError } from 'commander';
import type { Ports } from '../run/ports.ts';
import type { TraceOptions } from '../run/trace-options.ts';
import { explainTopic } from '../run/explain-topic.ts';
import { tracePod } from '../run/trace-pod.ts';
import type { DemoFlags, Main } from './demo.ts';
import { traceOptions, addOutputFlags, addTraceFlags, type Flags } from './options.ts';
import { addCheck } from './check.ts';
import { addConnectionFlags } from './connection-flags.ts';
import { addCompletion } from './complete/scripts.ts';
import { addDeleteFlags, addTargetFlags } from './delete-flags.ts';
import { addFix } from './fix.ts';
import { addPipelineFlags } from './pipeline-flags.ts';
import { addOptions, firstPage, moreFlags } from './help.ts';
import { addProbeFlags, probesFrom } from './probe-flags.ts';
import { addRollout, behindDashes } from './rollout.ts';
import { shownCommand, givenFlags, plainWords } from './words.ts';
import { plainMessage, unknownFlag, usageError, withHelpOf } from './usage.ts';
import { addCompare, addRecommend } from './history.ts';
import { addReplay, replayTextWith, replayWith } from './replay.ts';
import { addWhy } from './why.ts';

/**
 * Runs a command line (without node and script). The exit code; throws PodexitError. `main`: what the demo runs its own command
 * line with, which also says errors.
 */
export async function runProgram(argv: readonly string[], ports: Ports, main: Main = runProgram): Promise<number> {
  let code = 0;
  const set = (result: number): void => void (code = result);
  const program = buildProgram(ports, set, { argv, main });
  const words = plainWords(argv, program);
  const moved = behindCommand(words, () => buildProgram(ports, set, { argv, main }));
  try {
    await program.parseAsync(moved, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    throw withHelpOf(namedCommand(program), error instanceof CommanderError ? flagError(error, program) : error);
  }
}

const namedCommand = ({ args: [first], commands: all }: Command): string | undefined =>
  all.find((one) => one.name() === first)?.name();

const flagError = (error: CommanderError, program: Command): Error =>
  error.code === 'commander.unknownOption' ? unknownFlag(error, program) : usageError('flags', plainMessage(error));

/**
 * Flags before a command's name belong to it, as with kubectl: `-n shop check web-0`. Commander would
 * parse them as the program's own flags, which the subcommand does not read.
 */
function behindCommand(words: string[], build: () => Command): string[] {
  const [first = ''] = words;
  if (!first.startsWith('-') || !words.some((word) => word in commands)) return words;
  const program = build().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  const found: string[][] = [];
  program.hook('preSubcommand', ({ args: [name = '', ...rest] }) => {
    found.push([name, ...givenFlags(program), ...rest]);
    throw new CommanderError(0, 'podexit.moved', '');
  });
  program.action(() => {});
  try {
    program.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return found[0] ?? words;
}

/** The whole tree, or only what a command line can reach: the flags of commands that it does not name cost each start. */
export function buildProgram(
  ports: Ports,
  set: (code: number) => void,
  { argv, main = runProgram }: { argv?: readonly string[]; main?: Main } = {},
): Command {
  const { stdout, version } = ports;
  const program = new Command(commandName(ports.env))
    .configureHelp(firstPage)
    .description(about)
    .usage('TARGET [flags]')
    .argument(
      '[target...]',
      'POD…, TYPE/NAME or TYPE NAME; TYPE: pod, deployment, statefulset, daemonset, replicaset, job, service, node',
    )
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('before', examples(commandName(ports.env)))
    .addHelpText('after', exitCodes)
    .addHelpText('afterAll', ({ command }) => moreFlags(command))
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: () => {} })
    .enablePositionalOptions();
  addConnectionFlags(
    addPipelineFlags(addProbeFlags(addOutputFlags(addTraceFlags(addDeleteFlags(addTargetFlags(program)))))),
  ).action(async (words: string[], flags: Flags) => {
    const command = behindDashes(program);
    const target = words.slice(0, words.length - command.length);
    const options = await traceOptions(target, flags, version, stdout.isTty);
    const shown = { command: shownCommand(program, target), probes: await probesFrom(flags, ports.env) };
    set(await trace({ ...options, ...shown }, flags, command, ports));
  });
  const speaksOfAll = argv === undefined || argv.length === 0 || argv.some((word) => helpWords.has(word));
  for (const [name, add] of Object.entries(commands))
    if (speaksOfAll || argv.includes(name)) add(program, ports, set, main);
  return program;
}

const helpWords: ReadonlySet<string> = new Set(['help', '-h', '--help', 'options']);

async function trace(
  options: TraceOptions,
  { allTerminating }: Flags,
  command: readonly string[],
  ports: Ports,
): Promise<number> {
  const { target } = options;
  if ('template' in options.format) await (await import('../run/documents.ts')).assertRenderable(options.format);
  if (command.length > 0 && target.kind !== 'node')
    throw usageError(
      'command',
      'a command after -- goes with a node or a rollout',
      'Write: kubectl podexit node/NAME -- COMMAND, or kubectl podexit rollout TYPE/NAME -- COMMAND',
    );
  const isOne = target.kind !== 'pods' && target.kind !== 'node' && !allTerminating;
  if (isOne) return tracePod({ ...options, target }, ports);
  if (target.kind === 'pod' || (target.kind === 'pods' && allTerminating))
    throw usageError('all-terminating', '--all-terminating needs a workload or -l', 'For one pod use --attach.');
  const start = command.length > 0 ? { kind: 'command' as const, argv: command } : undefined;
  return (await import('../rollout/trace-several.ts')).traceSeveral({ ...options, target, start }, ports);
}

const about =
  'Shows live how a pod shuts down, why it took that long, whether clients lost requests, and what to change.';

/** Two columns that fit a terminal of 80 with the longer of the two names. */
const examples = (name: string): string =>
  `Examples:\n${exampleLines.map(([words, what]) => `  ${`${name} ${words}`.padEnd(49)}  ${what}\n`).join('')}`;

const exampleLines = [
  ['deployment/checkout', 'delete one of its pods'],
  ['web-0 --attach', 'wait for its deletion'],
  ['rollout deployment/checkout', 'follow a whole rollout'],
  ['web-0 --probe service/web', 'count the requests it loses'],
  ['node/n1 -- kubectl drain n1', 'follow what a drain ends'],
  ['check deployment/checkout', 'predict, delete nothing'],
  ['why web-0', 'explain a past exit'],
  ['web-0 -o json > exit.json', 'for programs'],
  ['demo', 'try it without a cluster'],
] as const;

/** The texts of docs and help that repeat the table of verdict/exit-code.ts are compared with it by tests. */
const exitCodes = `
A pod named like a command is written pod/NAME.
Exit codes:
  0    graceful, or nothing was running
  1    could not do the work, or wrong usage
  2    not graceful: killed, oom, failed, overran, forced
  3    stuck at --timeout, or not started
  4    unknown: not observed to its end
  5    graceful, but a gate failed or requests were lost
  128+ ended by a signal: 128 + its number
`;

/**
 * Krew's advice: what the user typed is `kubectl podexit` when kubectl started us. Newer kubectls say so themselves;
 * with older ones the shell's `_` still names the program that it started, since kubectl replaces itself by us.
 */
export const commandName = (env: Ports['env']): string =>
  env['KUBECTL_PATH'] !== undefined || /(^|[\\/])kubectl(\.exe)?$/.test(env['_'] ?? '')
    ? 'kubectl podexit'
    : 'kubectl-podexit';

/** `explain [WORD]`: what the words of a report mean, or all words of a kind. */
function addExplain(program: Command, ports: Ports, set: (code: number) => void): void {
  program
    .command('explain [word]')
    .description('explain a word of a report, and what to do')
    .addHelpText(
      'before',
      `Examples:
  kubectl podexit explain drain-race      a finding
  kubectl podexit explain findings        all of a kind: outcomes, marks, phases, findings
  kubectl podexit explain                 the kinds
`,
    )
    .action(async (word: string | undefined) => set(await explainTopic(word, ports)));
}

const demoExamples = `Examples:
  kubectl podexit demo                         the first scenario
  kubectl podexit demo sigkill                 an app that ignores SIGTERM
  kubectl podexit demo sigkill --fixed         the same app, with a handler
  kubectl podexit demo --list                  all scenarios
  kubectl podexit demo rollout --serve --write-kubeconfig kc
`;

/** A scenario has its grace already, and nothing depends on its pod. */
const refusedByDemo: ReadonlySet<string> = new Set(['--grace-period', '--now', '--force', '--cascade']);

function addDemo(program: Command, ports: Ports, set: (code: number) => void, main: Main): void {
  const demo = program
    .command('demo [scenario]')
    .description('try it without a cluster, on recorded deletions')
    .addHelpText('before', demoExamples)
    .option('--list', 'list the scenarios')
    .option('--fixed', 'play the scenario in which the problem is fixed')
    .option('--serve', 'only run the API server, for any client; it starts over after the end')
    .option('--port <port>', 'port of the cluster; default: any free one')
    .option('--write-kubeconfig <file>', 'with --serve: write a kubeconfig for it');
  const traced = addPipelineFlags(addProbeFlags(addOutputFlags(addTraceFlags(addDeleteFlags(demo)))));
  // Known, so that demo.ts can say why not.
  for (const one of traced.options) if (refusedByDemo.has(one.long ?? '')) one.hideHelp();
  traced.action(async (scenario: string | undefined, flags: DemoFlags) => {
    const { runDemo } = await import('./demo.ts');
    const given = givenFlags(demo).filter((word) => !/^--(list|fixed|serve|port|write-kubeconfig)\b/.test(word));
    set(await runDemo({ main, scenario, flags, given }, ports));
  });
}

/** By the word that a command line names them with. */
const commands: Record<string, (program: Command, ports: Ports, set: (code: number) => void, main: Main) => void> = {
  check: addCheck,
  fix: addFix,
  why: (program, ports, set) => addWhy(program, ports, set, replayTextWith(runProgram, ports)),
  compare: (program, ports, set) => addCompare(program, ports, set, replayWith(runProgram, ports)),
  recommend: (program, ports, set) => addRecommend(program, ports, set, replayWith(runProgram, ports)),
  rollout: addRollout,
  replay: addReplay,
  demo: addDemo,
  explain: addExplain,
  completion: addCompletion,
  options: addOptions,
};
