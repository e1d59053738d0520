/** One exit of a copy's pod, traced and probed like any other exit. */
import { reportOf } from '../advice/report.ts';
import { sampleOf } from '../advice/history/reports.ts';
import { PodexitError } from '../errors.ts';
import type { Interrupted } from '../model/observation.ts';
import { sumOf } from '../model/probe-numbers.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../model/observe/read.ts';
import { parseProbeTarget, type ProbeSettings } from '../probe/target.ts';
import { groupOfOne } from '../run/group/group.ts';
import type { runLive } from '../run/group/run-live.ts';
import type { Session } from '../run/session.ts';
import { nameOf, uidOf } from '../run/streams/watched.ts';
import { firstTrace } from '../run/traces/traces.ts';
import { tracesOfLog } from '../run/traces/traces-of-log.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import { schemeOf, servicePort, type Copy } from './copies.ts';
import type { TriedExit } from './outcome.ts';
import { untilAnswering, untilReady } from './settle.ts';

export interface Measuring {
  readonly session: Session;
  /** How the copies are asked; the target is that of each copy. */
  readonly probe: Omit<ProbeSettings, 'target'>;
  readonly path: string;
  readonly targetPort: number | string;
  readonly timeoutMs: number;
  /** Aborted, with the name of the signal, when the user leaves. */
  readonly left: AbortSignal;
  /** One sentence for stderr. */
  say(sentence: string): void;
  /** Follows the exit of a pod to its end. */
  readonly follow: typeof runLive;
}

/** Waits until a copy is ready and answers. Returns the requests that were sent until then, and its pods. */
export async function settled(measuring: Measuring, copy: Copy) {
  const pods = await untilReady(measuring.session, copy, measuring);
  return { pods, requests: await untilAnswering(measuring.session, settingsFor(measuring, copy), measuring.left) };
}

/**
 * Deletes the oldest pod of a settled copy, and waits until it has settled again: what is lost until then counts. Throws
 * what settling and tracing throw, and the reason of `left`.
 */
export async function measureExit(measuring: Measuring, copy: Copy, [pod = {}]: readonly JsonObject[]) {
  const target = { name: nameOf(pod), uid: uidOf(pod) };
  const report = asObject(await tracedExit(measuring, target, settingsFor(measuring, copy)));
  measuring.left.throwIfAborted();
  const after = await settled(measuring, copy);
  const sample = sampleOf(report);
  // Requests that were all answered say nothing more about the exit.
  const late = after.requests.failed > 0 ? after.requests : undefined;
  const services = asArray(asObject(report['traffic'])['services']).map(asObject);
  const outages = services.map(({ noReadySeconds }) => asObject(noReadySeconds));
  const probes = asArray(asObject(report['traffic'])['probes']).map(asObject);
  const failures = probes.flatMap((probe) => asArray(probe['failures']).map(asObject));
  const exit: TriedExit = {
    copy: copy.name,
    sample,
    requests: sumOf([sample.requests, late]),
    failures: failures.map(({ kind, status, count }) => [howText(kind, status), asNumber(count) ?? 0]),
    outage: {
      min: Math.max(0, ...outages.map(({ min }) => asNumber(min) ?? 0)),
      max: Math.max(0, ...outages.map(({ max }) => asNumber(max) ?? 0)),
    },
  };
  return { exit, pods: after.pods };
}

/** The API server answers 503 for a backend that it does not reach: that number says nothing about the application. */
const howText = (kind: unknown, status: unknown): string =>
  kind === 'http' ? `HTTP ${asNumber(status) ?? ''}`.trimEnd() : (asString(kind) ?? 'unknown');

async function tracedExit(
  { session, left, say, follow }: Measuring,
  pod: { name: string; uid: string },
  settings: ProbeSettings,
): Promise<object> {
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
  const options = {
    ...({ mode: 'delete', graceSeconds: null, insist: false, waitReplacement: false } as const),
    ...{ followLogs: true, logText: false, probes: [settings] },
  };
  return follow({ ...session, ports }, options, {
    group: groupOfOne(session.cluster.namespace, pod),
    traces,
    logText: false,
    end() {
      const trace = firstTrace(traces);
      const report = trace && reportOf(trace);
      if (report) return Promise.resolve(exitReportOf(report));
      throw new PodexitError('try.unseen', `the exit of pod "${pod.name}" was not observed`, 'Run it again.');
    },
  });
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
