/** The probes of a live run: when they start, when they allow the DELETE, and when they allow the run to end. */
import { PodexitError } from '../../errors.ts';
import { roleFor } from '../../kube/refused.ts';
import type { Probes } from '../../probe/start.ts';
import type { ProxiedPod } from '../../probe/http.ts';
import type { ProbeSettings } from '../../probe/target.ts';
import { awaitsReplacement } from '../ending/trace-end.ts';
import type { Probing, Run } from '../streams/live-run.ts';

/** Starts to send requests at once. `pod`: what the target `pod` means; of several pods, `open` adds each. */
export async function startProbing(run: Run, pod: ProxiedPod | undefined): Promise<Probing> {
  const { startProbes } = await import('../../probe/start.ts');
  const { probes = [], cluster, clock, version = 'unknown' } = run.options;
  let [started, failedAt] = [0, -Infinity];
  const deliver: Run['deliver'] = (seen) => {
    if (seen.kind === 'probe-counts' && seen.failures.length > 0) failedAt = seen.at;
    run.deliver(seen);
  };
  const start = (some: readonly ProbeSettings[], asked?: ProxiedPod): Probes => {
    const firstProbe = started;
    started += some.length;
    const about = {
      now: clock.now,
      userAgent: `kubectl-podexit/${version}`,
      ask: cluster.sendOnce,
      namespace: cluster.namespace,
    };
    return startProbes({ ...about, probes: some, pod: asked, firstProbe }, deliver, run.signal);
  };
  const ofPods = probes.filter(({ target }) => target.kind === 'pod');
  const probesOfTargets = start(probes.filter(({ target }) => target.kind !== 'pod'));
  const probesOfPods = new Map<string, Probes>();
  if (pod && ofPods.length > 0) probesOfPods.set(pod.uid, start(ofPods, pod));
  const all = (): Probes[] => [probesOfTargets, ...probesOfPods.values()];
  const close = (uid: string): void => {
    void probesOfPods.get(uid)?.stop();
    probesOfPods.delete(uid);
  };
  const ready = Promise.all(all().map((one) => one.ready)).then(
    () => undefined,
    (error: unknown) => Promise.reject(withRole(error as Error, run)),
  );
  // A run that attaches does not wait for `ready`.
  ready.catch(() => undefined);
  return {
    ready,
    open(one) {
      // At most 20 at the same time: each request goes through the API server.
      if (!pod && ofPods.length > 0 && !probesOfPods.has(one.uid) && probesOfPods.size < 20)
        probesOfPods.set(one.uid, start(ofPods, one));
    },
    close,
    flush: () => all().forEach((one) => one.flush()),
    async finish() {
      // From now on the name may belong to another pod.
      if (pod) close(pod.uid);
      await untilOver(run, pod, () => failedAt);
      await Promise.all(all().map((one) => one.stop()));
    },
  };
}

/** Adds to an error about missing permissions for a proxy the Role that grants them. */
function withRole(error: Error, { options: { probes = [], cluster } }: Run): Error {
  if (!(error instanceof PodexitError) || error.code !== 'probe.forbidden') return error;
  // As in Kubernetes' request info.
  const verbs: Record<string, string> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
  const verb = verbs[probes[0]?.method ?? ''] ?? 'get';
  const proxies: Record<string, string> = { service: 'services/proxy', pod: 'pods/proxy' };
  const resources = [...new Set(probes.flatMap(({ target }) => proxies[target.kind] ?? []))];
  const role = roleFor(cluster.namespace, ...resources.map((resource) => ({ verb, resource, group: '' })));
  return new PodexitError(error.code, error.message, `Ask for a RoleBinding to this Role:\n${role}`);
}

/** A run over several pods has no trace to wait for: it calls this when its rollout is done. */
async function untilOver(
  { options: { clock }, signal, traceOf }: Run,
  pod: ProxiedPod | undefined,
  failedAt: () => number,
) {
  const asked = clock.now();
  let awaitedUntil = -Infinity;
  for (;;) {
    const now = clock.now();
    const known = pod && traceOf(pod.uid);
    const gone = pod ? known?.gone?.at : asked;
    if (signal.aborted || gone === undefined) return;
    if (known && awaitsReplacement(known) && now < gone + 60_000) awaitedUntil = now;
    // A load balancer may learn late that it has others to send to.
    const isServed = [...(known?.slices.values() ?? [])].some(({ states }) => states.at(-1)?.value.otherReady);
    // 2 s after the pod is gone, its replacement is ready (awaited for a minute), and no request failed (for half a minute).
    if (now >= Math.max(gone, awaitedUntil, isServed ? Math.min(failedAt(), gone + 30_000) : gone) + 2000) return;
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, 100));
  }
}
