/** Words of the command line, turned into typed options once; inner code sees only the types. */
import type { LookOptions } from '../run/run.ts';
import type { ReportFile } from '../run/writable.ts';
import { formatOfFile, parseFormat, type Format } from '../run/formats.ts';
import type { TraceOptions } from '../run/trace-options.ts';
import { connectionOf, type ConnectionFlags } from './connection-flags.ts';
import { chosenBy, type DeleteFlags } from './delete-flags.ts';
import { parseDuration } from './duration.ts';
import { confirmFrom, policyFrom } from './gate-flags.ts';
import { decideGrace } from './grace.ts';
import { oneOf } from './one-of.ts';
import { publishFrom, type PipelineFlags } from './pipeline-flags.ts';
import type { ProbeFlags } from './probe-flags.ts';
import { usageError } from './usage.ts';

/** Flags as commander hands them over. */
export interface Flags extends ConnectionFlags, DeleteFlags, PipelineFlags, ProbeFlags {
  gracePeriod?: string;
  now?: boolean;
  force?: boolean;
  attach?: boolean;
  timeout?: string;
  waitReplacement?: boolean;
  output?: string;
  report?: string[];
  record?: string;
  /** --logs: true, --no-logs: false, neither: undefined. */
  logs?: boolean;
  color?: string;
  ascii?: boolean;
  timestamps?: string;
  v?: string;
}

/** Throws PodexitError for what makes no sense. */
export async function traceOptions(
  words: readonly string[],
  flags: Flags,
  version: string,
  isTty: boolean,
): Promise<TraceOptions> {
  const grace = decideGrace({
    gracePeriod: wholeNumber(flags.gracePeriod, '--grace-period', 'seconds'),
    now: flags.now,
    force: flags.force,
  });
  const chosen = chosenBy(words, flags);
  const isNode = chosen.target.kind === 'node';
  const never = flags.attach
    ? '--attach'
    : flags.allTerminating
      ? '--all-terminating'
      : isNode
        ? 'node/NAME'
        : undefined;
  if (never !== undefined && grace.named)
    throw usageError(
      'attach',
      `${never} never deletes, so no grace flag goes with it`,
      `Leave out ${never}, or the grace flag.`,
    );
  if ((flags.allTerminating || isNode || chosen.target.kind === 'pods') && flags.waitReplacement)
    throw usageError(
      'all-terminating',
      `--wait-replacement is for one pod, and ${flags.allTerminating ? '--all-terminating traces several' : 'several are traced'}`,
    );
  const timeout = flags.timeout === undefined ? undefined : parseDuration(flags.timeout, '--timeout');
  return {
    connection: connectionOf(flags, version),
    ...chosen,
    confirm: !flags.yes && (await confirmFrom(flags)),
    graceSeconds: grace.seconds,
    insist: grace.named,
    ...(timeout === undefined ? {} : { timeoutMs: timeout > 0 ? timeout : null }),
    waitReplacement: flags.waitReplacement ?? false,
    followLogs: flags.logs !== false,
    logText: flags.logs === true,
    format: formatFrom(flags, isTty),
    look: lookOf(flags),
    ...(flags.record === undefined ? {} : { record: recordingOf(flags.record) }),
    reports: reportsOf(flags),
    policy: await policyFrom(flags),
    publish: publishFrom(flags),
    verbosity: wholeNumber(flags.v, '-v') ?? 0,
  };
}

/** A person at a terminal gets the live view; a pipe gets lines. */
export const formatFrom = ({ output }: Flags, isTty: boolean): Format =>
  output === undefined ? { kind: isTty ? 'live' : 'lines' } : parseFormat(output);

export const reportsOf = ({ report = [] }: Flags): ReportFile[] =>
  report.map((file) => ({ file, format: formatOfFile(file) }));

/** As of `--report`, which knows no format for it: stdout is for the report, or for the lines. */
function recordingOf(file: string): string {
  if (file !== '-') return file;
  throw usageError('record', 'a recording cannot be written to stdout', 'Name a file; one that is called - is ./-');
}

export const lookOf = (flags: Flags): LookOptions => ({
  color: oneOf(flags.color ?? 'auto', ['auto', 'always', 'never'], '--color'),
  ascii: flags.ascii ?? false,
  timestamps: oneOf(flags.timestamps ?? 'utc', ['relative', 'local', 'utc'], '--timestamps'),
  logs: flags.logs === true,
  verbose: (wholeNumber(flags.v, '-v') ?? 0) > 0,
});

/** `unit`: what it is a number of, where that is not said by the flag itself. */
export function wholeNumber(text: string | undefined, flag: string, unit = ''): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[+-]?\d{1,10}$/.test(text))
    throw usageError('number', `${flag} takes a whole number${unit && ` of ${unit}`}, not "${text.slice(0, 80)}"`);
  return Number(text);
}
