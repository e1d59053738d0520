/** Help as in kubectl: first examples and the common flags; `options [COMMAND]` lists all flags. */
import { Help, type Command, type HelpConfiguration, type Option } from 'commander';
import { oneOf } from './usage.ts';
import type { AddCommand } from './command.ts';

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

const sharedGroups: ReadonlySet<string> = new Set([
  'Which pod:',
  'Deletion, as in kubectl delete:',
  'Trace:',
  'Output:',
  'Requests:',
  'Pipelines:',
  'Connection, as in kubectl:',
]);

const isOnFirstPage = ({ helpGroupHeading = '', long = '' }: Option): boolean =>
  !sharedGroups.has(helpGroupHeading) || firstPageFlags.has(long);

/** Commander's page without the rarer flags. All flags that commands share are under one heading. */
export const firstPage: HelpConfiguration = {
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
export function moreFlags(command: Command): string {
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
