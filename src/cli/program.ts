/**
 * The program as commander sees it, without its commands: flags, examples, and help as in kubectl: first examples and the
 * common flags; `options [COMMAND]` lists all flags.
 */
import { Command, type Option, Help, type HelpConfiguration } from 'commander';
import type { Ports } from '../run/ports.ts';
import { addFlags, programFlags } from './flags.ts';
import { oneOf } from './usage.ts';
import type { AddCommand } from './command.ts';

/** The program without its commands. */
export function programFor({ env, stdout, version }: Ports): Command {
  const program = new Command(commandName(env))
    .configureHelp(firstPage)
    .description(
      'Shows live how a pod shuts down, why it took that long, whether clients lost requests, and what to change.',
    )
    .usage('TARGET [flags]')
    .argument(
      '[target...]',
      'POD…, TYPE/NAME or TYPE NAME; TYPE: pod, deployment, statefulset, daemonset, replicaset, job, service, node',
    )
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('before', examples(commandName(env)))
    .addHelpText('after', exitCodes)
    .addHelpText('afterAll', ({ command }) => moreFlags(command))
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: () => {} })
    .enablePositionalOptions();
  return addFlags(program, programFlags);
}

/** Two columns that fit a terminal of 80 with the longer of the two names. */
const examples = (name: string): string =>
  `Examples:\n${exampleLines.map(([words, what]) => `  ${`${name} ${words}`.padEnd(49)}  ${what}\n`).join('')}`;

const exampleLines = [
  ['deployment/checkout', 'delete one of its pods'],
  ['web-0 --attach', 'wait for its deletion'],
  ['rollout deployment/checkout', 'follow a whole rollout'],
  ['web-0 --probe service/web', 'count the requests it loses'],
  ['node/n1 -- kubectl drain n1 …', 'follow the pods it evicts'],
  ['check deployment/checkout', 'predict, delete nothing'],
  ['why web-0', 'explain a past exit'],
  ['watch -A', 'every exit, all day'],
  ['web-0 -o json > exit.json', 'for programs'],
  ['demo', 'try it without a cluster'],
] as const;

/** Docs and help repeat the table of verdict/policy.ts; tests compare them. */
const exitCodes = `
A pod named like a command is written pod/NAME.

Exit codes:
  0    graceful, or nothing was running
  1    could not do the work, or wrong usage
  2    not graceful: killed, oom, failed, overran, forced
  3    stuck at --timeout, or not started
  4    unknown: not observed to its end
  5    graceful, but a gate failed or requests were lost
  128+ ended by a signal: 128 + its number`;

/**
 * Krew's advice: show `kubectl podexit` if kubectl started us. Newer kubectls say so themselves. With older ones the
 * shell's `_` still names kubectl, since kubectl replaces itself with us.
 */
export const commandName = (env: Ports['env']): string =>
  env['KUBECTL_PATH'] !== undefined || /(^|[\\/])kubectl(\.exe)?$/.test(env['_'] ?? '')
    ? 'kubectl podexit'
    : 'kubectl-podexit';

/** The flags of the shared groups that the first page shows. */
const firstPageFlags: ReadonlySet<string> = new Set([
  '--selector',
  '--grace-period',
  '--evict',
  '--yes',
  '--attach',
  '--timeout',
  '--record',
  '--v',
  '--output',
  '--report',
  '--probe',
  '--max-duration',
  '--fail-on',
  '--namespace',
  '--context',
]);

const sharedGroups: ReadonlySet<string> = new Set(Object.keys(programFlags));

const isOnFirstPage = ({ helpGroupHeading = '', long = '' }: Option): boolean =>
  !sharedGroups.has(helpGroupHeading) || firstPageFlags.has(long);

/** Commander's page without the rarer flags. All flags that commands share are under one heading. */
const firstPage: HelpConfiguration = {
  visibleOptions(this: Help, command) {
    return Help.prototype.visibleOptions.call(this, command).filter(isOnFirstPage);
  },
  groupItems<T extends Command | Option>(this: Help, all: T[], visible: T[], groupOf: (item: T) => string) {
    const heading = (item: T): string => (sharedGroups.has(groupOf(item)) ? 'Options:' : groupOf(item));
    return Help.prototype.groupItems.call(this, all, visible, heading as never) as Map<string, T[]>;
  },
  // Text in parentheses or after a semicolon is only for `options`.
  optionDescription: ({ description }) => description.replace(/( \(|; )[^]*/, ''),
  subcommandTerm: (command) => command.name(),
};

/** The line below a first page that does not show all flags of the command. */
function moreFlags(command: Command): string {
  const rest = command.options.filter((option) => !option.hidden && !isOnFirstPage(option)).length;
  if (rest === 0) return '';
  const words = command.parent ? `${command.parent.name()} options ${command.name()}` : `${command.name()} options`;
  return `\nUse "${words}" for ${rest} more flags.\n`;
}

/** `options [COMMAND]`: every flag, in groups. */
export const addOptions: AddCommand = (program, { stdout }) => {
  program
    .command('options [command]')
    .description('list all flags, or all flags of a command')
    .action((name: string | undefined) => {
      const names = program.commands.map((command) => command.name());
      const word = name === undefined ? undefined : oneOf(name, names, 'options');
      const command = program.commands.find((one) => one.name() === word) ?? program;
      const help = Object.assign(new Help(), onlyFlags);
      help.prepareContext({ helpWidth: stdout.columns(), outputHasColors: false });
      stdout.write(help.formatHelp(command, help));
    });
};

const onlyFlags = { commandDescription: () => '', visibleCommands: () => [], visibleArguments: () => [] };
