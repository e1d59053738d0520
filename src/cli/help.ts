/** Help as kubectl has it: examples and the flags of every day first; `options [COMMAND]` lists all of them. */
import { Help, type Command, type HelpConfiguration, type Option } from 'commander';
import { oneOf } from './usage.ts';
import type { AddCommand } from './command.ts';

/** Of the groups that several commands share, what the first page shows. */
const everyDay: ReadonlySet<string> = new Set([
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

const isShared = ({ helpGroupHeading = '' }: Option): boolean => sharedGroups.has(helpGroupHeading);
const isEveryDay = (option: Option): boolean => !isShared(option) || everyDay.has(option.long ?? '');

/** Commander's page without the rarer flags. What a command shares with others stands under one heading. */
export const firstPage: HelpConfiguration = {
  visibleOptions(this: Help, command) {
    return Help.prototype.visibleOptions.call(this, command).filter(isEveryDay);
  },
  groupItems<T extends Command | Option>(this: Help, all: T[], visible: T[], groupOf: (item: T) => string) {
    const heading = (item: T): string => (sharedGroups.has(groupOf(item)) ? 'Options:' : groupOf(item));
    return Help.prototype.groupItems.call(this, all, visible, heading as never) as Map<string, T[]>;
  },
  // Text in parentheses or after a semicolon is for `options`.
  optionDescription: ({ description }) => description.replace(/( \(|; )[^]*/, ''),
  subcommandTerm: (command) => command.name(),
};

/** The line below a first page that shows only some of the command's flags. */
export function moreFlags(command: Command): string {
  const rest = command.options.filter((one) => !one.hidden && !isEveryDay(one)).length;
  if (rest === 0) return '';
  const words = command.parent ? `${command.parent.name()} options ${command.name()}` : `${command.name()} options`;
  return `\nUse "${words}" for ${rest} more flags.\n`;
}

/** `options [COMMAND]`: every flag, in groups. */
export const addOptions: AddCommand = (program, { stdout }, set) => {
  program
    .command('options [command]')
    .description('list all flags, or all flags of a command')
    .action((name: string | undefined) => {
      const names = program.commands.map((one) => one.name());
      const word = name === undefined ? undefined : oneOf(name, names, 'options');
      stdout.write(allFlags(program.commands.find((one) => one.name() === word) ?? program, stdout.columns()));
      set(0);
    });
};

function allFlags(command: Command, columns: number | undefined): string {
  const help = new Help();
  help.prepareContext({ helpWidth: columns ?? 80, outputHasColors: false });
  const visible = help.visibleOptions(command);
  const groups = help.groupItems([...command.options], visible, (one) => one.helpGroupHeading ?? 'Options:');
  const width = Math.max(...visible.map((one) => help.optionTerm(one).length));
  const lines = [...groups].flatMap(([heading, options]) => [
    '',
    heading,
    ...options.map((one) => help.formatItem(help.optionTerm(one), width, help.optionDescription(one), help)),
  ]);
  return `The flags of ${[command.parent?.name(), command.name()].filter(Boolean).join(' ')}:\n${lines.join('\n')}\n`;
}
