/** One exit of a copy's pod, traced like any other exit, with requests to the copy counted meanwhile. */
import { reportOf } from '../advice/report.ts';
import { sampleOf } from '../advice/history/reports.ts';
import { PodexitError } from '../errors.ts';
import type { Interrupted } from '../model/observation.ts';
import { asArray, asNumber, asObject, type JsonObject } from '../model/observe/read.ts';
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
import { untilReady, type Waiting } from './ready.ts';
import { startRequests } from './requests.ts';

export interface Measuring extends Waiting {
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
      logText: false,
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
