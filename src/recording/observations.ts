/** Our own recordings: one observation per line, read as raw observations, as untrusted as a server's. */
import { PodexitError } from '../errors.ts';
import { streamNames, type RawObservation } from '../model/observation.ts';
import { asObject } from '../model/observe/read.ts';
import { probeFailureKinds } from '../model/probe-observation.ts';
import type { ParsedLine } from './read-lines.ts';

/** Parses a recorded line. Throws an error with the line number if it is not an observation. */
export function rawObservationOf({ number, value }: ParsedLine, file: string): RawObservation {
  const observed = asObject(value);
  const { kind } = observed;
  // Object.hasOwn: a file may name its kind `constructor`.
  const check = typeof kind === 'string' && Object.hasOwn(checks, kind) ? checks[kind] : undefined;
  if (!check || !isArrived(observed) || !check(observed))
    throw new PodexitError(
      'recording.broken',
      `line ${number} of ${file} is not an observation that this podexit knows`,
      'The file was damaged or edited: record it again.',
    );
  const { seq: _seq, ...rawObservation } = observed;
  return rawObservation as unknown as RawObservation;
}

type Check = (value: unknown) => boolean;

/** Checks the named fields; other fields are allowed. */
const fields = (checks: Record<string, Check>): Check => {
  const named = Object.entries(checks);
  return (value) => {
    const object = asObject(value);
    return named.every(([name, check]) => check(object[name]));
  };
};
const isTime = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < 8e15;
const isText = (value: unknown): boolean => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isOptional = (check: Check) => (value: unknown) => value === undefined || check(value);
const isSeconds = (value: unknown): boolean => value === null || (typeof value === 'number' && Number.isFinite(value));
const oneOf =
  (...values: unknown[]) =>
  (value: unknown) =>
    values.includes(value);
const isStream = oneOf(...streamNames);

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isListOf = (check: Check) => (value: unknown) => Array.isArray(value) && value.every(check);
const isTally = fields({ sent: isCount, failed: isCount });
const isFailures = fields({
  kind: oneOf(...probeFailureKinds),
  connection: oneOf('new', 'kept'),
  status: isOptional(isCount),
  first: isTime,
  last: isTime,
  count: isCount,
});

/** The fields that every observation has. */
const isArrived = fields({ at: isTime, pod: isOptional(isText), together: oneOf(undefined, true) });

/** Checks of all fields that code relies on, by kind; objects inside are narrowed later. */
const checks: Record<string, Check> = {
  began: fields({
    mode: oneOf('delete', 'evict', 'attach', 'check'),
    namespace: isText,
    name: isText,
    graceSeconds: isSeconds,
    timeoutSeconds: isSeconds,
    target: isOptional(isText),
    command: isOptional(isText),
    version: isOptional(isText),
    context: isOptional(isText),
    next: oneOf(undefined, true),
    waitReplacement: isFlag,
  }),
  listed: fields({
    stream: isStream,
    resourceVersion: isText,
    objects: Array.isArray,
    sentAt: isOptional(isTime),
    name: isOptional(isText),
  }),
  kin: fields({ resourceVersion: isText, sentAt: isTime, uids: isListOf(isText) }),
  changed: fields({ stream: isStream, change: oneOf('ADDED', 'MODIFIED', 'DELETED') }),
  synced: fields({ stream: isStream }),
  refused: fields({
    stream: isStream,
    status: isTime,
    verb: isText,
    resource: isText,
    group: isText,
    message: isText,
    container: isOptional(isText),
  }),
  gap: fields({
    stream: isStream,
    from: isTime,
    to: isOptional(isTime),
    container: isOptional(isText),
    cause: oneOf('expired', 'disconnected', 'not-synced', 'behind', 'refused'),
  }),
  resumed: fields({ stream: isStream, since: isTime }),
  dated: fields({ sentAt: isTime, date: isTime }),
  requested: fields({ verb: oneOf('delete', 'evict'), graceSeconds: isSeconds, uid: isText }),
  answered: fields({
    verb: oneOf('delete', 'evict'),
    status: isTime,
    reason: isOptional(isText),
    message: isOptional(isText),
  }),
  looked: fields({ sentAt: isOptional(isTime) }),
  'log-opened': fields({ container: isText }),
  line: fields({ container: isText, time: isText, text: isOptional(isText), namesSignal: isOptional(isFlag) }),
  'log-ended': fields({ container: isText, clean: isFlag }),
  timer: fields({ name: oneOf('timeout', 'settled', 'over') }),
  'probe-started': fields({
    probe: isCount,
    target: isText,
    via: oneOf('url', 'service-proxy', 'pod-proxy'),
    ratePerSecond: isTime,
    timeoutMs: isTime,
    keepalive: isFlag,
    pod: isOptional(isText),
  }),
  'probe-counts': fields({
    probe: isCount,
    since: isTime,
    new: isTally,
    kept: isOptional(isTally),
    failures: isListOf(isFailures),
    latency: isListOf(isListOf(isCount)),
    answered: isOptional(fields({ first: isTime, lastSent: isTime })),
    notMeasured: isOptional(isListOf(fields({ reason: isText, count: isCount }))),
  }),
  'probe-ended': fields({ probe: isCount }),
  interrupted: fields({ signal: oneOf('SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE') }),
};
