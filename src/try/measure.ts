/** One exit of a copy's pod, traced like any other exit, with requests to the copy counted meanwhile. */
import { reportOf } from '../advice/report.ts';
import { sampleOf } from '../advice/history/reports.ts';
import { PodexitError } from '../errors.ts';
import type { Interrupted } from '../model/observation.ts';
import { asArray, asNumber, asObject, type JsonObject, asString, metadataOf } from '../model/observe/read.ts';
import { parseProbeTarget, type ProbeSettings } from '../probe/target.ts';
import { groupOfOne } from '../run/group/group.ts';
import type { runLive } from '../run/group/run-live.ts';
import type { Session } from '../run/session.ts';
import { nameOf, uidOf, isFinishedPod, isReadyPod, isTerminatingPod } from '../run/streams/watched.ts';
import { printLabels } from '../run/streams/selectors.ts';
import { firstTrace, tracesOfLog } from '../run/traces/traces.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import { schemeOf, servicePort, type Copy } from './copies.ts';
import type { TriedExit } from './outcome.ts';
import { delay } from '../kube/env.ts';
import { sumOf } from '../model/probe-numbers.ts';
import type { ProbeCounts } from '../model/probe-observation.ts';
import { startProbes } from '../probe/start.ts';
import { createObstacles } from '../run/progress/obstacles.ts';
import { labelled } from './objects.ts';

export interface Measuring {
  readonly session: Session;
  /** That the pods have to become ready. */
  readonly timeoutMs: number;
  /** Aborted, with the name of the signal, when the user leaves. */
  readonly left: AbortSignal;
  /** One sentence for stderr: what keeps the pods from becoming ready, each once. */
  say(sentence: string): void;
  /** How the copies are asked; the target is that of each copy. */
  readonly probe: Omit<ProbeSettings, 'target'>;
  readonly path: string;
  readonly targetPort: number | string;
  readonly follow: typeof runLive;
}

/** Deletes a copy's oldest pod: what is lost until it is ready and answers again counts. `other`: what is lost anyway. */
export async function measureExit(measuring: Measuring, copy: Copy, other: Copy): Promise<TriedExit> {
  const { left, session } = measuring;
  const [pod = {}] = await untilReady(copy, measuring);
  const requestsTo = (one: Copy) => startRequests(session, settingsFor(measuring, one), left);
  const [requests, control] = [requestsTo(copy), requestsTo(other)];
  try {
    await Promise.all([requests.untilQuiet(), control.untilQuiet()]);
    requests.restart();
    control.restart();
    const report = asObject(await tracedExit(measuring, pod));
    left.throwIfAborted();
    await untilReady(copy, measuring);
    await requests.untilQuiet();
    // Both at once, so that they are about the same time.
    const [own, others] = await Promise.all([requests.stop(), control.stop()]);
    const services = asArray(asObject(report['traffic'])['services']).map(asObject);
    const outage = (end: 'min' | 'max'): number =>
      Math.max(0, ...services.map(({ noReadySeconds }) => asNumber(asObject(noReadySeconds)[end]) ?? 0));
    return {
      sample: sampleOf(report),
      outage: { min: outage('min'), max: outage('max') },
      control: others.requests,
      ...own,
    };
  } finally {
    requests.close();
    control.close();
  }
}

async function tracedExit({ session, left, say, follow }: Measuring, pod: JsonObject): Promise<object> {
  const traces = tracesOfLog();
  const ports = {
    ...session.ports,
    // Without a terminal the trace has the default limit, by the pod's grace period.
    stdout: { ...session.ports.stdout, isTty: false },
    stderr: { ...session.ports.stderr, write: (text: string) => say(text.trim().replace(/^podexit: /, '')) },
    // The first signal ends the trace; the copies are removed after that.
    onSignal(listener: (signal: Interrupted['signal']) => void) {
      const leave = (): void => listener(left.reason as Interrupted['signal']);
      left.addEventListener('abort', leave, { once: true });
      return () => left.removeEventListener('abort', leave);
    },
  };
  const whole = { graceSeconds: null, insist: false, waitReplacement: false, followLogs: true, logText: false };
  return follow(
    { ...session, ports },
    { mode: 'delete', ...whole },
    {
      group: groupOfOne(session.cluster.namespace, { name: nameOf(pod), uid: uidOf(pod) }),
      traces,
      end() {
        const trace = firstTrace(traces);
        const report = trace && reportOf(trace);
        if (report) return Promise.resolve(exitReportOf(report));
        throw new PodexitError('try.unseen', `the exit of pod "${nameOf(pod)}" was not observed`, 'Run it again.');
      },
    },
  );
}

/** From a pod of the same cluster the Service itself is asked, over new and kept connections; else the API server. */
export const isInside = ({ cluster, ports }: Session): boolean => {
  const host = ports.env['KUBERNETES_SERVICE_HOST'];
  return Boolean(host) && URL.canParse(cluster.server) && new URL(cluster.server).hostname === host;
};

function settingsFor({ session, probe, path, targetPort }: Measuring, { service }: Copy): ProbeSettings {
  const name = service.metadata?.name ?? '';
  const scheme = schemeOf(targetPort);
  const text = isInside(session)
    ? `${scheme}://${name}.${session.cluster.namespace}.svc:${servicePort}${path}`
    : `service/${scheme === 'https' ? 'https:' : ''}${name}:${servicePort}${path}`;
  return { ...probe, target: parseProbeTarget(text) };
}

/** ms without a failure, after which a copy counts as answering. */
const quietMs = 1000;
const lookMs = 250;

/** Sends requests at a steady rate until `stop`, or until `left` is aborted. */
function startRequests({ cluster, ports }: Session, settings: ProbeSettings, left: AbortSignal) {
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
      // Ready pods have 30 s to answer.
      for (const until = cluster.env.now() + 30_000; quiet < quietMs;) {
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

/** The pods of the copy, oldest first. Throws `try.not-ready`, and the reason of `left`. */
export async function untilReady(copy: Copy, measuring: Measuring): Promise<JsonObject[]> {
  const { session, timeoutMs, left, say } = measuring;
  const { cluster } = session;
  const selector = printLabels({ matchLabels: copy.labels });
  const obstacles = createObstacles(say);
  const until = cluster.env.now() + timeoutMs;
  for (;;) {
    const pods = (await labelled(cluster, 'Pod', selector)).filter((pod) => !isFinishedPod(pod));
    const ready = pods.filter((pod) => !isTerminatingPod(pod) && isReadyPod(pod));
    if (ready.length === copy.replicas && pods.length === copy.replicas)
      return ready.sort((a, b) => createdAt(a).localeCompare(createdAt(b)));
    pods.forEach((pod) => obstacles.pod(uidOf(pod), pod));
    left.throwIfAborted();
    if (cluster.env.now() >= until) {
      const { name, replicas, deployment } = copy;
      const why = obstacles.text() ?? 'not all were created, or their readiness probes do not succeed';
      throw new PodexitError(
        'try.not-ready',
        `${ready.length} of ${replicas} pods of ${deployment.metadata?.name} (${name}) are ready after ${timeoutMs / 1000}s: ${why}`,
        name === 'patched'
          ? 'The copy without the patch became ready, so look at the patch.'
          : 'A copy has no labels of the original, which a network policy may ask for; or wait longer with --timeout.',
      );
    }
    await delay(cluster.env, lookMs, left);
  }
}

const createdAt = (pod: JsonObject): string => asString(metadataOf(pod)['creationTimestamp']) ?? '';
