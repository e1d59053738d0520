/** Runs the probes of a run, from before the deletion until it is over. */
import type { ProbeObservation, ProbeStarted } from '../model/probe-observation.ts';
import type { ProbeClient } from './client.ts';
import { createGrpcClient } from './grpc.ts';
import { createHttpClient } from './http.ts';
import { createProxiedClient, type ProxiedPod, type ProxyRequest } from './proxied.ts';
import { startSchedule } from './schedule.ts';
import { createSender } from './sender.ts';
import { createTally } from './tally.ts';
import { keepsConnection, viaOf, type ProbeSettings } from './target.ts';
import { createTcpClient } from './tcp.ts';
import { createTrial } from './trial.ts';

interface ProbeOptions {
  probes: readonly ProbeSettings[];
  /** Client clock, whole ms. */
  now(): number;
  userAgent: string;
  /** Sends a request to the API server, for `service/…` and `pod`. */
  ask: ProxyRequest;
  namespace: string;
  /** The pod that the target `pod` means. */
  pod?: ProxiedPod;
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
  const client = clientFor(settings, options);
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

function clientFor(settings: ProbeSettings, { userAgent, ask, namespace, pod }: OneProbe): ProbeClient {
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
      return createProxiedClient(target, settings, { namespace, pod, ask });
  }
}
