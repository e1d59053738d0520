/** Turns the words of the command line into typed options, once; inner code sees only the types. */
import type { OutputOptions } from '../advice/output.ts';
import type { LookOptions } from '../output/view.ts';
import { formatNames, readFormat, reportExtensions, reportFile, type Format, type Printed } from '../output/formats.ts';
import type { TraceOptions } from '../run/options.ts';
import { clusterOptions, collect, verbosityOf } from './connection-flags.ts';
import { deletionOptions } from './delete-flags.ts';
import type { Flags } from './command.ts';
import { parseDuration, usageError, valueOf } from './usage.ts';
import type { Ports } from '../run/ports.ts';
import { addPipelineFlags, policyFrom, publishFrom } from './pipeline-flags.ts';
import { addProbeFlags, probesFrom } from './probe-flags.ts';
import { shownCommand, splitAtDashes } from './words.ts';
import type { Command } from 'commander';

/** `words`: of the target, and after `--` of a command. Throws PodexitError for invalid or contradictory flags. */
export async function traceOptions(
  command: Command,
  words: readonly string[],
  flags: Flags,
  { version, stdout, env }: Ports,
): Promise<TraceOptions> {
  const [target, argv] = splitAtDashes(command.parent ?? command, words);
  const chosen = deletionOptions(target, flags);
  if (argv.length > 0 && chosen.target.kind !== 'node' && command.parent === null)
    throw usageError(
      'command',
      'a command after -- needs a node or a rollout',
      'Write: kubectl podexit node/NAME -- COMMAND, or kubectl podexit rollout TYPE/NAME -- COMMAND',
    );
  const timeout = flags.timeout === undefined ? undefined : parseDuration(flags.timeout, '--timeout');
  const { confirm, ...output } = await outputOptions(flags, stdout.isTty);
  return {
    command: shownCommand(command, target),
    ...clusterOptions(flags, version),
    ...chosen,
    start: startOf(flags, argv),
    confirm: confirm && !flags.yes,
    timeoutMs: timeout === 0 ? null : timeout,
    waitReplacement: flags.waitReplacement ?? false,
    followLogs: flags.logs !== false,
    logText: flags.logs === true,
    ...output,
    record: recordingOf(flags.record),
    probes: await probesFrom(flags, env),
  };
}

/** What the run starts, and follows. Throws usageError if there are several ways. */
function startOf({ restart, image }: Flags, argv: readonly string[]): TraceOptions['start'] {
  const ways = [
    ...(restart ? [{ kind: 'restart' as const }] : []),
    ...(image === undefined ? [] : [{ kind: 'image' as const, image }]),
    ...(argv.length > 0 ? [{ kind: 'command' as const, argv }] : []),
  ];
  if (ways.length > 1)
    throw usageError('rollout', 'a rollout is started once', 'Give one of --restart, --image and -- COMMAND.');
  return ways[0];
}

/** What becomes of the report. A person at a terminal gets the live view; a pipe gets lines. Throws what readFormat throws. */
export async function outputOptions(flags: Flags, isTty: boolean) {
  const { output, report = [] } = flags;
  const look: LookOptions = { ...lookFrom(flags), logs: flags.logs === true, verbose: verbosityOf(flags) > 0 };
  const format: Format =
    output === undefined ? { kind: isTty && !look.plain ? 'live' : 'lines' } : await readFormat(output, 'trace');
  const reports = report.map((file) => reportFile(file, 'trace'));
  return { format, look, reports, publish: publishFrom(flags), ...(await policyFrom(flags)) };
}

/** Screen readers get neither boxes nor signs that only look. */
export const lookFrom = ({ color, ascii = false, plain = false, timestamps = 'utc' }: Flags) => ({
  color: colorFrom({ color }),
  ascii: ascii || plain,
  plain,
  timestamps: valueOf(timestamps, '--timestamps'),
});

/** `-` is not a file here, nor for `--report`: stdout is for the report, or for the lines. */
function recordingOf(file: string | undefined): string | undefined {
  if (file !== '-') return file;
  throw usageError('record', 'a recording cannot be written to stdout', 'Name a file; one that is called - is ./-');
}

export function addTraceFlags(command: Command): Command {
  command
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
    )
    // A habit from kubectl get.
    .addOption(command.createOption('-w, --watch', 'accepted: podexit always watches').hideHelp());
  return addPipelineFlags(addProbeFlags(addOutputFlags(command)));
}

/** The same for every command that prints. */
export const addLook = (command: Command): Command =>
  command.option('--color <when>', 'auto, always or never').option('--ascii', 'draw without Unicode');

const colorFrom = ({ color = 'auto' }: Flags) => valueOf(color, '--color');

/** The help for `--logs` and `--no-logs` of a trace. */
const logHelp = {
  logs: "show (and record) the containers' log lines",
  noLogs: "do not follow the containers' logs at all",
};

export function addOutputFlags(command: Command, logs = logHelp): Command {
  command
    .optionsGroup('Output:')
    .option('-o, --output <format>', `${formatNames('trace', '…').join(', ')}; default: live at a terminal, else lines`)
    .option(
      '--report <file>',
      `also write a report; the format follows the file extension (${reportExtensions('trace').join(' ')}); may be repeated`,
      collect,
    )
    .option('--logs', logs.logs)
    .option('--no-logs', logs.noLogs);
  return addLook(command)
    .option('--plain', 'for screen readers: lines, without animation, bars or boxes')
    .option('--timestamps <kind>', 'relative, local or utc (the default)');
}

export const addDocumentFlags = (command: Command, subject: Printed): Command =>
  addLook(
    command
      .optionsGroup('Output:')
      .option('-o, --output <format>', `${formatNames(subject, '…').join(', ')}; default: table`)
      .option(
        '--report <file>',
        'also write a report; the format follows the file extension; may be repeated',
        collect,
      ),
  );

/** Throws `usage.output`, `usage.report` and usageError for unknown values. */
export const documentOptions = async (flags: Flags, subject: Printed): Promise<OutputOptions> => ({
  format: await readFormat(flags.output ?? 'table', subject),
  color: colorFrom(flags),
  ascii: flags.ascii ?? false,
  reports: (flags.report ?? []).map((file) => reportFile(file, subject)),
});
