/** Turns the words of the command line into typed options, once; inner code sees only the types. */
import type { OutputOptions } from '../advice/output.ts';
import type { LookOptions } from '../output/view.ts';
import { readFormat, reportFile, type Format, type Printed } from '../output/formats.ts';
import type { TraceOptions } from '../run/options.ts';
import { deletionOptions } from './delete-flags.ts';
import type { StartFlags } from './command.ts';
import { connectOptionFlags, type Flags } from './flags.ts';
import { parseDuration, usageError, valueOf, wholeNumber } from './usage.ts';
import type { Ports } from '../run/ports.ts';
import { policyFrom, publishFrom } from './pipeline-flags.ts';
import { probesFrom } from './probe-flags.ts';
import { shownCommand, splitAtDashes } from './words.ts';
import { Option, type Command } from 'commander';
import type { ConnectOptions } from '../kube/connect-options.ts';

/** `words`: of the target, and after `--` of a command. Throws PodexitError for invalid or contradictory flags. */
export async function traceOptions(
  command: Command,
  words: readonly string[],
  flags: Flags & StartFlags,
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
function startOf({ restart, image }: StartFlags, argv: readonly string[]): TraceOptions['start'] {
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

const colorFrom = ({ color = 'auto' }: Flags) => valueOf(color, '--color');

/** Throws `usage.output`, `usage.report` and usageError for unknown values. */
export const documentOptions = async (flags: Flags, subject: Printed): Promise<OutputOptions> => ({
  format: await readFormat(flags.output ?? 'table', subject),
  color: colorFrom(flags),
  ascii: flags.ascii ?? false,
  reports: (flags.report ?? []).map((file) => reportFile(file, subject)),
});

export const clusterOptions = (flags: Flags, version: string) => ({
  connection: connectionOf(flags, version),
  verbosity: verbosityOf(flags),
});

const verbosityOf = ({ v }: Flags): number => wholeNumber(v, '-v') ?? 0;

export function connectionOf(flags: Flags, version: string): ConnectOptions {
  const { requestTimeout } = flags;
  // Empty means unset, as in kubectl: usually it comes from an unset variable in a script.
  const given = Object.entries(flags).filter(([name, value]) => connectOptionNames.has(name) && (value ?? '') !== '');
  return {
    ...(Object.fromEntries(given) as Partial<ConnectOptions>),
    // A bare number means seconds (client-go ParseTimeout).
    requestTimeoutMs: requestTimeout
      ? parseDuration(requestTimeout.replace(/^\d+$/, '$&s'), '--request-timeout')
      : undefined,
    version,
  };
}

const connectOptionNames: ReadonlySet<string> = new Set(
  Object.keys(connectOptionFlags).map((words) => new Option(words).attributeName()),
);
