/** Runs the probes of a run, from before the deletion until it is over. First each target must answer for a second without a failure. */
import type { ProbeObservation, ProbeStarted, NotMeasuredReason } from '../model/probe-observation.ts';
import type { ProbeClient } from './client.ts';
import { createGrpcClient } from './grpc.ts';
import { createHttpClient, createProxiedClient, type ProxyContext } from './http.ts';
import { startSchedule, createSender } from './sender.ts';
import { createTally, type Settled, type Result } from './result.ts';
import { keepsConnection, viaOf, type ProbeSettings, type ProbeTarget } from './target.ts';
import { createTcpClient } from './connecting.ts';
import { PodexitError } from '../errors.ts';

interface ProbeOptions extends ProxyContext {
  probes: readonly ProbeSettings[];
  /** Client clock, whole ms. */
  now(): number;
  userAgent: string;
  /** The number of the first probe: a run may start some later. */
  firstProbe?: number;
}

export type Probes = ReturnType<typeof startProbes>;

/** An observation that has no number yet. */
type DeliverProbe = (observation: { at: number } & ProbeObservation) => void;

/** `signal` stops everything at once; open requests are not counted then. */
export function startProbes(options: ProbeOptions, deliver: DeliverProbe, signal: AbortSignal) {
  const all = options.probes.map((settings, index) =>
    startProbe({ ...options, settings, probe: (options.firstProbe ?? 0) + index }, deliver, signal),
  );
  const ready = Promise.all(all.map((probe) => probe.ready)).then(() => undefined);
  ready.catch(() => undefined);
  return {
    /** Each target answered for a second without a failure; rejects with PodexitError `probe.not-answering`. */
    ready,
    /** Delivers the counts until now, so that later requests are counted separately. */
    flush: (): void => all.forEach((probe) => probe.flush()),
    /** Stops sending, waits for the open requests (at most their timeout), and delivers the rest. */
    stop: async () => void (await Promise.all(all.map((probe) => probe.stop()))),
  };
}

/** ms between two observations of a probe. */
const sliceMs = 500;
/** After this time without a failure, the next one is delivered at once. */
const failureNewsMs = 1000;

type OneProbe = Omit<ProbeOptions, 'probes'> & { settings: ProbeSettings; probe: number };

function startProbe(options: OneProbe, deliver: DeliverProbe, signal: AbortSignal) {
  const { settings, probe, now } = options;
  const { target, ratePerSecond, timeoutMs } = settings;
  const hasKept = keepsConnection(settings);
  const started = now();
  const client = clientFor(options);
  const tally = createTally(probe, hasKept, started);
  deliver({ at: started, ...probeStarted(options) });
  const trial = createTrial(target, started);
  const flush = (): void => {
    const at = now();
    const counts = tally.take(at);
    if (counts) deliver({ at, ...counts });
  };
  let lastFailure = -Infinity;
  const sender = createSender({
    ...{ client, tally, now, timeoutMs, hasKept },
    standstill: () => schedule.standstill(),
    onSettled(settled) {
      tally.add(settled);
      trial.settled(settled);
      if (settled.result.kind !== 'failed') return;
      if (settled.settledAt - lastFailure > failureNewsMs) flush();
      lastFailure = settled.settledAt;
    },
  });
  // A request that is skipped is none of the trial's.
  const send = (): void => trial.sent(sender.send() ?? Infinity);
  const schedule = startSchedule({ ratePerSecond, now, send, onStandstill: sender.stoodStill });
  const slices = setInterval(flush, sliceMs);
  const halt = (): void => {
    schedule.stop();
    clearInterval(slices);
    trial.cancel();
  };
  const abort = (): void => {
    halt();
    sender.abort();
    client.close();
  };
  signal.addEventListener('abort', abort, { once: true });
  // The event has passed then.
  if (signal.aborted) abort();
  return {
    ready: trial.passed,
    flush,
    async stop(): Promise<void> {
      halt();
      await sender.idle();
      signal.removeEventListener('abort', abort);
      client.close();
      if (signal.aborted) return;
      flush();
      deliver({ at: now(), kind: 'probe-ended', probe });
    },
  };
}

const probeStarted = ({ settings, probe, pod }: OneProbe): ProbeStarted => ({
  kind: 'probe-started',
  probe,
  target: settings.target.shown,
  via: viaOf(settings.target),
  ratePerSecond: settings.ratePerSecond,
  timeoutMs: settings.timeoutMs,
  keepalive: keepsConnection(settings),
  pod: settings.target.kind === 'pod' ? pod?.uid : undefined,
});

function clientFor(options: OneProbe): ProbeClient {
  const { settings, userAgent } = options;
  const { target } = settings;
  switch (target.kind) {
    case 'http':
      return createHttpClient(target, settings, userAgent);
    case 'tcp':
      return createTcpClient(target);
    case 'grpc':
      return createGrpcClient(target, settings, userAgent);
    case 'service':
    case 'pod':
      return createProxiedClient(target, settings, options);
  }
}

/** Client ms. */
const trialMs = 1000;

/** Begins at once. */
function createTrial(target: ProbeTarget, start: number) {
  /** Requests without an answer, and the second itself. */
  let open = 1;
  let answered = 0;
  let ownTrouble: Result | undefined;
  let resolve = (): void => undefined;
  let reject = (_error: Error): void => undefined;
  const passed = new Promise<void>((done, failed) => ([resolve, reject] = [done, failed]));
  const closeOne = (): void => {
    open -= 1;
    if (open > 0) return;
    if (answered > 0) resolve();
    else reject(notAnswering(target, ownTrouble));
  };
  const timer = setTimeout(closeOne, trialMs);
  return {
    /** Resolves when the second is over and all its requests were answered; rejects with `probe.not-answering`. */
    passed,
    sent: (at: number): void => void (at < start + trialMs && (open += 1)),
    settled({ result, sentAt }: Settled): void {
      if (sentAt >= start + trialMs) return;
      if (result.kind === 'succeeded') answered += 1;
      if (result.kind === 'not-measured') ownTrouble = result;
      if (result.kind === 'failed') reject(notAnswering(target, result));
      closeOne();
    },
    /** Nobody awaits it any more. */
    cancel(): void {
      clearTimeout(timer);
      resolve();
    },
  };
}

function notAnswering(target: ProbeTarget, result: Result | undefined): PodexitError {
  const said = result?.said ?? 'no request was answered';
  const message = `the probe of ${target.shown} failed before anything was deleted: ${said}`;
  // The API server refuses the use of its proxy; its Status says so.
  const isRefused = result?.kind === 'failed' && result.status === 403 && said.includes(' is forbidden');
  const isForbidden = isRefused && (target.kind === 'service' || target.kind === 'pod');
  return new PodexitError(isForbidden ? 'probe.forbidden' : 'probe.not-answering', message, hintOf(target, result));
}

function hintOf(target: ProbeTarget, result: Result | undefined): string {
  if (result?.kind === 'not-measured') return ownHints[result.reason] ?? again;
  if (result?.kind !== 'failed') return again;
  if (target.kind === 'grpc' && (result.failure === 'http' || result.failure === 'not-serving'))
    return 'The target must answer SERVING to grpc.health.v1.Health/Check, for the SERVICE if you name one.';
  if (target.kind === 'service' && target.port === undefined && result.said?.includes('no endpoints available'))
    return 'If the port of this Service has a name, add it: service/NAME:PORT.';
  if (result.failure === 'http' && result.status !== undefined)
    return 'Name a path that answers, or say what is expected: --probe-expect 200-499';
  if (result.failure === 'tls')
    return 'If this machine does not accept its certificate: give its authority with --probe-ca FILE, name a host that it is for, or use --probe-insecure.';
  return again;
}

const ownHints: Partial<Record<NotMeasuredReason, string>> = {
  'no-local-port': 'Lower --probe-rate, or wait until closed connections leave TIME_WAIT (a minute): ss -s',
  'no-file-handle': 'Lower --probe-rate, or raise the limit of open files: ulimit -n 8192',
};

const again = 'Does it answer from here within --probe-timeout? A probe measures only what answered before.';
