/** Our own recordings: one observation a line, read back as raw observations, since a file is as untrusted as a server. */
import { PodexitError } from '../errors.ts';
import { streamNames, type RawObservation } from '../model/observation.ts';
import { asObject, type JsonObject } from '../model/observe/read.ts';
import { probeFailureKinds } from '../model/probe-observation.ts';
import type { ParsedLine } from './read-lines.ts';

/** A recorded line as a raw observation. What is no observation is an error that names the line. */
export function rawObservationOf({ number, value }: ParsedLine, file: string): RawObservation {
  const fields = asObject(value);
  const kind = fields['kind'];
  // Object.hasOwn: a file may name its kind `constructor`.
  const check = typeof kind === 'string' && Object.hasOwn(checks, kind) ? checks[kind] : undefined;
  if (!check || !isArrived(fields) || !check(fields))
    throw new PodexitError(
      'recording.broken',
      `line ${number} of ${file} is not an observation that this podexit knows`,
      'The file was damaged or edited: record it again.',
    );
  const { seq: _seq, ...rawObservation } = fields;
  return rawObservation as unknown as RawObservation;
}

const isArrived = ({ at, pod, together }: JsonObject): boolean =>
  isTime(at) && isOptional(isText)(pod) && oneOf(undefined, true)(together);
const isTime = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < 8e15;
const isText = (value: unknown): boolean => typeof value === 'string';
const isOptional = (check: (value: unknown) => boolean) => (value: unknown) => value === undefined || check(value);
const isSeconds = (value: unknown): boolean => value === null || (typeof value === 'number' && Number.isFinite(value));
const oneOf =
  (...values: unknown[]) =>
  (value: unknown) =>
    values.includes(value);
const isStream = oneOf(...streamNames);

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isTally = (value: unknown): boolean => isCount(asObject(value)['sent']) && isCount(asObject(value)['failed']);
const isListOf = (check: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(check);
const isFailures = (value: unknown): boolean => {
  const { kind, connection, status, first, last, count } = asObject(value);
  return (
    oneOf(...probeFailureKinds)(kind) &&
    oneOf('new', 'kept')(connection) &&
    isOptional(isCount)(status) &&
    [first, last].every(isTime) &&
    isCount(count)
  );
};
const isAnswered = (value: unknown): boolean => {
  const { first, lastSent } = asObject(value);
  return isTime(first) && isTime(lastSent);
};
const isNotMeasured = (value: unknown): boolean =>
  isText(asObject(value)['reason']) && isCount(asObject(value)['count']);

/** All fields that code relies on, by kind; the objects inside are narrowed later like any other. */
const checks: Record<string, (o: JsonObject) => boolean> = {
  began: (o) =>
    oneOf('delete', 'evict', 'attach', 'check')(o['mode']) &&
    isText(o['namespace']) &&
    isText(o['name']) &&
    isSeconds(o['graceSeconds']) &&
    isSeconds(o['timeoutSeconds']) &&
    ['target', 'command', 'version', 'context'].every((name) => isOptional(isText)(o[name])) &&
    oneOf(undefined, true)(o['next']) &&
    typeof o['waitReplacement'] === 'boolean',
  listed: (o) =>
    isStream(o['stream']) &&
    isText(o['resourceVersion']) &&
    Array.isArray(o['objects']) &&
    isOptional(isTime)(o['sentAt']) &&
    isOptional(isText)(o['name']),
  kin: (o) =>
    isText(o['resourceVersion']) && isTime(o['sentAt']) && Array.isArray(o['uids']) && o['uids'].every(isText),
  changed: (o) => isStream(o['stream']) && oneOf('ADDED', 'MODIFIED', 'DELETED')(o['change']),
  synced: (o) => isStream(o['stream']),
  refused: (o) =>
    isStream(o['stream']) &&
    isTime(o['status']) &&
    isText(o['verb']) &&
    isText(o['resource']) &&
    isText(o['group']) &&
    isText(o['message']) &&
    isOptional(isText)(o['container']),
  gap: (o) =>
    isStream(o['stream']) &&
    isTime(o['from']) &&
    isOptional(isTime)(o['to']) &&
    isOptional(isText)(o['container']) &&
    oneOf('expired', 'disconnected', 'not-synced', 'behind', 'refused')(o['cause']),
  resumed: (o) => isStream(o['stream']) && isTime(o['since']),
  dated: (o) => isTime(o['sentAt']) && isTime(o['date']),
  requested: (o) => oneOf('delete', 'evict')(o['verb']) && isSeconds(o['graceSeconds']) && isText(o['uid']),
  answered: (o) =>
    oneOf('delete', 'evict')(o['verb']) &&
    isTime(o['status']) &&
    isOptional(isText)(o['reason']) &&
    isOptional(isText)(o['message']),
  looked: (o) => isOptional(isTime)(o['sentAt']),
  'log-opened': (o) => isText(o['container']),
  line: (o) =>
    isText(o['container']) &&
    isText(o['time']) &&
    isOptional(isText)(o['text']) &&
    isOptional((value) => typeof value === 'boolean')(o['namesSignal']),
  'log-ended': (o) => isText(o['container']) && typeof o['clean'] === 'boolean',
  timer: (o) => oneOf('timeout', 'settled', 'over')(o['name']),
  'probe-started': (o) =>
    isCount(o['probe']) &&
    isText(o['target']) &&
    oneOf('url', 'service-proxy', 'pod-proxy')(o['via']) &&
    isTime(o['ratePerSecond']) &&
    isTime(o['timeoutMs']) &&
    typeof o['keepalive'] === 'boolean' &&
    isOptional(isText)(o['pod']),
  'probe-counts': (o) =>
    isCount(o['probe']) &&
    isTime(o['since']) &&
    isTally(o['new']) &&
    isOptional(isTally)(o['kept']) &&
    isListOf(isFailures)(o['failures']) &&
    isListOf(isListOf(isCount))(o['latency']) &&
    isOptional(isAnswered)(o['answered']) &&
    isOptional(isListOf(isNotMeasured))(o['notMeasured']),
  'probe-ended': (o) => isCount(o['probe']),
  interrupted: (o) => oneOf('SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE')(o['signal']),
};
