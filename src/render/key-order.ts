/** The order of the report's keys, that of its type in src/model/report.ts: the same exit is the same bytes, always. */

/** Keys in their order, each with the shape of its value (of each item, where that is an array); null: not ordered. */
export interface KeyOrder {
  readonly [key: string]: KeyOrder | null;
}

const range = { min: null, max: null };
const instant = { earliest: null, latest: null, basis: null, evidence: null };

/** One mark; also what a line of the stream holds. */
export const markOrder: KeyOrder = { id: null, name: null, subject: null, at: instant, note: null };

/** One gap in what could be seen. */
export const gapOrder: KeyOrder = { resource: null, from: null, to: null, cause: null };

export const errorOrder: KeyOrder = { apiVersion: null, kind: null, code: null, message: null, hint: null };

const quantiles = { p50: null, p99: null };
const tally = { sent: null, failed: null };

/** What one probe measured. */
export const probeOrder: KeyOrder = {
  target: null,
  via: null,
  ratePerSecond: null,
  sent: null,
  succeeded: null,
  failed: null,
  failures: { kind: null, status: null, count: null },
  windows: { start: instant, end: instant, failed: null },
  connections: { new: tally, kept: tally },
  latencyMs: { before: quantiles, during: quantiles, after: quantiles },
  notMeasured: { reason: null, count: null },
};

export const reportOrder: KeyOrder = {
  apiVersion: null,
  kind: null,
  mode: null,
  pod: {
    namespace: null,
    name: null,
    uid: null,
    node: null,
    owner: { kind: null, name: null },
    runtimeClass: null,
    reason: null,
  },
  grace: { requestedSeconds: null, specSeconds: null, effectiveSeconds: null, deadline: null },
  trigger: { kind: null, evidence: null },
  marks: markOrder,
  phases: { name: null, subject: null, start: instant, end: instant, seconds: range, ofGrace: range },
  containers: {
    name: null,
    kind: null,
    outcome: null,
    probable: null,
    preStop: { kind: null, outcome: null, start: instant, end: instant },
    stopSignal: { ...instant, signal: null },
    kill: instant,
    exit: { at: instant, code: null, reason: null },
    preStopSeconds: range,
    drainSeconds: range,
    pastGraceSeconds: range,
    servedUntil: instant,
  },
  endpoints: {
    service: null,
    slice: null,
    addressType: null,
    unroutedAt: instant,
    removedAt: instant,
    otherReady: null,
  },
  replacement: {
    name: null,
    uid: null,
    createdAt: instant,
    scheduledAt: instant,
    startedAt: instant,
    readyAt: instant,
  },
  verdict: {
    outcome: null,
    exitCode: null,
    findings: { code: null, severity: null, message: null, advice: null, evidence: null },
    gates: { name: null, limit: null, passed: null, judged: null, message: null },
  },
  summary: null,
  totalSeconds: null,
  cause: { code: null, container: null },
  traffic: {
    judgement: null,
    reason: null,
    services: { name: null, otherReady: null, noReadySeconds: range },
    probes: probeOrder,
  },
  fix: { reason: null, target: { kind: null, name: null }, patch: null, command: null },
  run: { command: null, version: null, context: null, startedAt: null, image: null },
  clocks: { api: { offsetMs: range }, node: { offsetMs: range } },
  assumes: { name: null, seconds: null },
  gaps: gapOrder,
  observations: { seq: null, at: null, what: null },
};

/** A copy with its keys in order. Keys that the order does not name come last, as they stood: fields may be added. */
export function inOrder(value: unknown, order: KeyOrder | null): unknown {
  if (Array.isArray(value)) return value.map((item) => inOrder(item, order));
  if (order === null || typeof value !== 'object' || value === null) return value;
  const named = Object.keys(order).filter((key) => Object.hasOwn(value, key));
  const others = Object.keys(value).filter((key) => !Object.hasOwn(order, key));
  const from = value as Record<string, unknown>;
  return Object.fromEntries([...named, ...others].map((key) => [key, inOrder(from[key], order[key] ?? null)]));
}
