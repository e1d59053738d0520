/** The command tree. Commander parses; what it found becomes typed options and a call into the session. */
import { Command, CommanderError } from 'commander';
import type { Ports } from '../session/ports.ts';
import type { Flags } from './options.ts';
import { formatFrom, lookOf, reportsOf, traceOptions } from './options.ts';
import { noPolicy } from '../verdict/judge.ts';
import { usageError } from './usage.ts';

/** Runs a command line (without node and script). The exit code; throws PodexitError. */
export async function runProgram(argv: readonly string[], ports: Ports): Promise<number> {
  let code = 0;
  const set = (result: number): void => void (code = result);
  const program = buildProgram(ports, set);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    throw usageError('flags', error.message.replace(/^error: /, ''));
  }
}

export function buildProgram(ports: Ports, set: (code: number) => void): Command {
  const { stdout, version } = ports;
  const program = new Command(commandName(ports.env))
    .description('Deletes one pod, or attaches to a deletion under way, and tells how it died.')
    .usage('POD [flags]')
    .argument('[pod...]', 'POD, pod/POD or pod POD; a pod named like a command is written pod/NAME')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: () => {} })
    .enablePositionalOptions();
  addTraceFlags(addOutputFlags(program)).action(async (words: string[], flags: Flags) => {
    if (words.length === 0) return program.outputHelp();
    const { tracePod } = await import('../session/trace-pod.ts');
    set(await tracePod(traceOptions(words, flags, version, stdout.isTty), ports));
  });
  addReplay(program, ports, set);
  addDemo(program, ports, set);
  return program;
}

/** Krew's advice: what the user typed is `kubectl podexit` when kubectl started us. */
export const commandName = (env: Ports['env']): string =>
  env['KUBECTL_PATH'] === undefined ? 'kubectl-podexit' : 'kubectl podexit';

function addTraceFlags(command: Command): Command {
  return command
    .option('-n, --namespace <name>', "the pod's namespace")
    .option('--context <name>', 'the kubeconfig context to use')
    .option('--kubeconfig <file>', 'the kubeconfig file to use')
    .option('--grace-period <seconds>', 'seconds the pod has to exit; negative: its own; 0 becomes 1 without --force')
    .option('--now', 'the same as --grace-period=1')
    .option('--force', 'remove the object at once (grace 0), whether or not its containers have stopped')
    .option('--attach', 'never delete: wait for a deletion by somebody else, and trace that')
    .option(
      '--timeout <duration>',
      'give up after this time (90s, 2m; 0: never); default: never at a terminal, else grace + 120s',
    )
    .option('--wait-replacement', 'go on until the replacement is ready')
    .option('--record <file>', 'write what is observed to FILE, for replay')
    .option('-v, --v <level>', 'log requests and decisions to stderr, from 1 to 9');
}

function addOutputFlags(command: Command): Command {
  return command
    .option(
      '-o, --output <format>',
      'lines, ndjson, json, yaml, name, wide, markdown, html, junit, jsonpath=…; default: live at a terminal, else lines',
    )
    .option('--report <file>', 'also write a report; its ending chooses the format; may be repeated', collect)
    .option('--logs', "show (and record) the containers' log lines")
    .option('--no-logs', "do not follow the containers' logs at all")
    .option('--color <when>', 'auto, always or never')
    .option('--ascii', 'draw without Unicode')
    .option('--timestamps <kind>', 'relative, local or utc (the default)');
}

const collect = (value: string, before: string[] = []): string[] => [...before, value];

function addReplay(program: Command, ports: Ports, set: (code: number) => void): void {
  const replay = program.command('replay <file>').description('show the report of a recording again').exitOverride();
  addOutputFlags(replay).action(async (file: string, flags: Flags) => {
    const { replayFile } = await import('../session/replay-file.ts');
    const format = formatFrom(flags, false);
    set(
      await replayFile(
        {
          file,
          format,
          look: { ...lookOf(flags), logs: flags.logs !== false },
          reports: reportsOf(flags),
          policy: noPolicy,
        },
        ports,
      ),
    );
  });
}

interface DemoFlags extends Flags {
  list?: boolean;
  serve?: boolean;
  port?: string;
  writeKubeconfig?: string;
}

function addDemo(program: Command, ports: Ports, set: (code: number) => void): void {
  const demo = program
    .command('demo [scenario]')
    .description('trace a recorded deletion on a cluster inside this program')
    .option('--list', 'list the scenarios')
    .option('--serve', 'only run the cluster, for any client')
    .option('--port <port>', 'port of the cluster; default: any free one')
    .option('--write-kubeconfig <file>', 'with --serve: write a kubeconfig for it')
    .exitOverride();
  addTraceFlags(addOutputFlags(demo)).action(async (scenario: string | undefined, flags: DemoFlags) => {
    const { runDemo } = await import('./demo.ts');
    set(await runDemo({ scenario, flags }, ports));
  });
}
