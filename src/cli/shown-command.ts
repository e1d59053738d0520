/** The command line as reports and recordings repeat it, which others read. */
import type { Command } from 'commander';
import { givenFlags, typed } from './words.ts';

/** Flags whose values can be no secret; of all others only the name is repeated. */
const shown: ReadonlySet<string> = new Set([
  '--namespace',
  '--context',
  '--selector',
  '--field-selector',
  '--pick',
  '--grace-period',
  '--timeout',
  '--request-timeout',
  '--output',
  '--probe-rate',
  '--probe-timeout',
  '--max-duration',
  '--max-grace-used',
  '--min-drain-lead',
  '--max-lost',
  '--fail-on',
  '--v',
]);

/** `target`: its words, known to name something. Nothing that stands behind `--` is repeated. */
export function shownCommand(command: Command, target: readonly string[]): string {
  const verb = command.parent ? [command.name()] : [];
  const flags = givenFlags(command).map((word) => {
    const [name = ''] = word.split('=', 1);
    return shown.has(name) ? word : name;
  });
  return typed(['kubectl', 'podexit', ...verb, ...target, ...flags]);
}
