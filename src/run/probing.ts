/** The probes of a live run: when they begin, when the DELETE may go out, and when the run may end. */
import type { Cluster } from '../kube/cluster.ts';
import type { Sighting } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import type { Probes } from '../probe/start.ts';
import type { ProbeSettings } from '../probe/settings.ts';
import type { Clock } from './clock.ts';
import { awaitsReplacement } from './ending.ts';

export interface ProbingOptions {
  probes: readonly ProbeSettings[];
  cluster: Cluster;
  clock: Clock;
  namespace: string;
  userAgent: string;
  /** Whom `pod` means. */
  pod: { name: string; uid: string };
  deliver(sighting: Sighting): void;
  signal: AbortSignal;
}

export interface Probing {
  /** Every target answered for a second; rejects with PodexitError `probe.not-answering`. */
  readonly ready: Promise<void>;
  /** Delivers what was counted until now. */
  flush(): void;
  /** Goes on until the last request that matters was answered: the pod is gone, and its replacement ready. */
  finish(trace: () => Trace | undefined): Promise<void>;
}

/** ms that requests go on after the pod is gone, and after its replacement is ready. */
const goOnMs = 2000;
/** ms after the removal for which a replacement that was seen is waited for. */
const longestWaitMs = 60_000;
const lookMs = 100;

/** Begins to send at once. */
export async function startProbing(options: ProbingOptions): Promise<Probing> {
  const { probes, cluster, clock, namespace, userAgent, pod, deliver, signal } = options;
  const { startProbes } = await import('../probe/start.ts');
  const running = startProbes(
    { probes, now: () => clock.now(), userAgent, ask: cluster.askOnce, namespace, pod },
    (observation) => deliver(observation),
    signal,
  );
  return {
    ready: running.ready,
    flush: running.flush,
    finish: (trace) => finish(running, options, trace),
  };
}

async function finish(
  running: Probes,
  { clock, signal }: ProbingOptions,
  trace: () => Trace | undefined,
): Promise<void> {
  let awaitedUntil = -Infinity;
  for (;;) {
    const now = clock.now();
    const known = trace();
    if (signal.aborted || !known?.gone) break;
    if (awaitsReplacement(known) && now < known.gone.at + longestWaitMs) awaitedUntil = now;
    if (now >= Math.max(known.gone.at, awaitedUntil) + goOnMs) break;
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, lookMs));
  }
  await running.stop();
}
