/** The requests to one copy around one exit: how many were sent and lost, and when none is lost any more. */
import { PodexitError } from '../errors.ts';
import { delay } from '../kube/env.ts';
import { sumOf } from '../model/probe-numbers.ts';
import type { ProbeCounts } from '../model/probe-observation.ts';
import type { ProbeSettings } from '../probe/target.ts';
import { startProbes } from '../probe/start.ts';
import type { Session } from '../run/session.ts';

/** ms without a failure, after which a copy counts as answering. */
const quietMs = 1000;
/** ms that ready pods have to answer. */
const answerMs = 30_000;
const lookMs = 250;

/** Sends requests at a steady rate until `stop`, or until `left` is aborted. */
export function startRequests({ cluster, ports }: Session, settings: ProbeSettings, left: AbortSignal) {
  let counts: ProbeCounts[] = [];
  let quiet = 0;
  let failure = new PodexitError(
    'try.not-answering',
    `${settings.target.shown} did not answer for a second without a failure, though its pods are ready`,
    'Name a path that answers (--path), or say what is expected (--probe-expect).',
  );
  const stopped = new AbortController();
  const probes = startProbes(
    {
      probes: [settings],
      now: ports.clock.now,
      userAgent: `kubectl-podexit/${ports.version}`,
      ask: cluster.sendOnce,
      namespace: cluster.namespace,
    },
    (observation) => {
      if (observation.kind !== 'probe-counts') return;
      counts.push(observation);
      const { sent, failed } = sumOf([observation.new, observation.kept]);
      quiet = failed > 0 ? 0 : quiet + (sent > 0 ? observation.at - observation.since : 0);
    },
    AbortSignal.any([left, stopped.signal]),
  );
  probes.ready.catch((error: unknown) => void (failure = error as PodexitError));
  return {
    /** Waits until a second has passed without a failure. Throws `probe.not-answering`, `try.not-answering`, and the reason of `left`. */
    async untilQuiet(): Promise<void> {
      quiet = 0;
      for (const until = cluster.env.now() + answerMs; quiet < quietMs;) {
        await delay(cluster.env, lookMs, left);
        left.throwIfAborted();
        if (quiet < quietMs && cluster.env.now() >= until) throw failure;
      }
    },
    /** Counts only what is sent from now on. */
    restart(): void {
      probes.flush();
      counts = [];
    },
    /** Waits for the open requests, and returns what was counted. */
    async stop() {
      await probes.stop();
      return {
        requests: sumOf(counts.flatMap((one) => [one.new, one.kept])),
        // Of a backend that it does not reach the API server says 503: that is not the application's.
        failures: counts
          .flatMap((one) => one.failures)
          .map(
            ({ kind, status, count }) => [kind === 'http' ? `HTTP ${status ?? ''}`.trimEnd() : kind, count] as const,
          ),
        notMeasured: counts.flatMap((one) => one.notMeasured ?? []).reduce((sum, { count }) => sum + count, 0),
      };
    },
    close: (): void => stopped.abort(),
  };
}
