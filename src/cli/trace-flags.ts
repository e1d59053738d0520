/** The flags of a trace and of its output, shared by the commands that have them. */
import type { Command } from 'commander';
import { namedFormats, reportEndings, templateFormats } from '../run/formats.ts';
import { collect } from './connection-flags.ts';

export function addTraceFlags(command: Command): Command {
  return command
    .optionsGroup('Trace:')
    .option('--attach', 'delete nothing, wait until something else deletes the pod')
    .option('--all-terminating', 'with -l or a workload: trace every terminating pod until the rollout is done')
    .option(
      '--timeout <duration>',
      'give up after this time (90s, 2m; 0: never); default: never at a terminal, else grace period + 120s',
    )
    .option('--wait-replacement', 'also wait until the replacement is ready')
    .option('--record <file>', 'write what is observed to this file, for replay')
    .option(
      '-v, --v <level>',
      'show evidence, phases and assumptions; 2: count the requests on stderr; 6: log each of them',
    );
}

/** What `--logs` and `--no-logs` mean where a pod is traced. */
const ofTrace = {
  logs: "show (and record) the containers' log lines",
  noLogs: "do not follow the containers' logs at all",
};

/** Without `logs`, for a command that has none. */
export function addOutputFlags(command: Command, { logs }: { logs?: typeof ofTrace } = { logs: ofTrace }): Command {
  command
    .optionsGroup('Output:')
    .option(
      '-o, --output <format>',
      `${[...namedFormats, ...templateFormats.map((one) => `${one}=…`)].join(', ')}; default: live at a terminal, else lines`,
    )
    .option(
      '--report <file>',
      `also write a report; the format follows the file extension (${reportEndings.join(' ')}); may be repeated`,
      collect,
    );
  if (logs) command.option('--logs', logs.logs).option('--no-logs', logs.noLogs);
  return command
    .option('--color <when>', 'auto, always or never')
    .option('--ascii', 'draw without Unicode')
    .option('--timestamps <kind>', 'relative, local or utc (the default)');
}
