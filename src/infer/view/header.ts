/** What is worth knowing of a pod before it goes: its containers, its grace, who routes to it. */
import type { Container, Pod, Probe } from '../../model/kube.ts';
import type { Mode } from '../../model/observation.ts';
import { containersOf, controllerOf, hookOf, isRunning, statusesOf } from '../../model/pod.ts';
import type { ContainerKind } from '../../model/kube.ts';
import type { Trace } from '../../model/trace.ts';

export interface Header {
  readonly mode: Mode;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node?: string;
  readonly runtimeClass?: string;
  readonly owner?: { readonly kind: string; readonly name: string };
  /** Seconds that hold, and where they come from. */
  readonly grace: { readonly seconds: number; readonly source: 'spec' | 'requested' };
  readonly containers: readonly HeaderContainer[];
  readonly routes: readonly HeaderRoute[];
}

export interface HeaderContainer {
  readonly name: string;
  readonly kind: ContainerKind;
  readonly running: boolean;
  /** `preStop sleep 4s`, `no preStop`. */
  readonly preStop: string;
  /** `readiness tcp :8080`, `no readiness probe`. */
  readonly readiness: string;
}

export interface HeaderRoute {
  readonly service: string;
  /** Ready endpoints of it, this pod's included, when first seen. */
  readonly ready: number;
  readonly staysReady: boolean;
}

export function headerOf(trace: Trace): Header | undefined {
  const pod = trace.deletion?.first.value ?? trace.before?.value ?? trace.pod?.value;
  if (!pod) return undefined;
  const { namespace = '', mode = 'attach', graceSeconds: requested = null } = trace.began?.value ?? {};
  return headerOfPod(pod, { namespace, mode, requested, routes: routesOf(trace) });
}

/** `requested`: seconds of grace that were asked for. */
function headerOfPod(
  pod: Pod,
  { namespace, mode, requested, routes }: Pick<Header, 'namespace' | 'mode' | 'routes'> & { requested: number | null },
): Header {
  const owner = controllerOf(pod);
  const states = new Map(statusesOf(pod).map((status) => [status.name, status.state]));
  return {
    mode,
    namespace: pod.metadata.namespace ?? namespace,
    name: pod.metadata.name,
    uid: pod.metadata.uid,
    ...(pod.spec.nodeName === undefined ? {} : { node: pod.spec.nodeName }),
    ...(pod.spec.runtimeClassName === undefined ? {} : { runtimeClass: pod.spec.runtimeClassName }),
    ...(owner ? { owner: { kind: owner.kind, name: owner.name } } : {}),
    grace: {
      seconds: requested ?? pod.spec.terminationGracePeriodSeconds ?? 30,
      source: requested === null ? 'spec' : 'requested',
    },
    containers: containersOf(pod).map(({ name, kind, container }) => ({
      name,
      kind,
      running: isRunning(states.get(name)),
      preStop: preStopWords(container),
      readiness: readinessWords(container.readinessProbe),
    })),
    routes,
  };
}

function preStopWords(container: Container): string {
  const hook = hookOf(container);
  if (!hook) return 'no preStop';
  return hook.handler.sleep ? `preStop sleep ${hook.handler.sleep.seconds}s` : `preStop ${hook.kind}`;
}

function readinessWords(probe: Probe | undefined): string {
  if (!probe) return 'no readiness probe';
  if (probe.exec) return 'readiness exec';
  const [kind, port] = probe.tcpSocket
    ? ['tcp', probe.tcpSocket.port]
    : probe.httpGet
      ? ['http', probe.httpGet.port]
      : ['grpc', probe.grpc?.port];
  return port === undefined ? `readiness ${kind}` : `readiness ${kind} :${port}`;
}

function routesOf(trace: Trace): HeaderRoute[] {
  const routing = [...trace.slices.values()].filter((slice) => slice.states.some((state) => state.value.own));
  const services = [...new Set(routing.flatMap((slice) => slice.service ?? []))].sort();
  return services.map((service) => {
    const first = [...trace.slices.values()]
      .filter((slice) => slice.service === service)
      .map((slice) => slice.states[0]?.value);
    return {
      service,
      ready: first.reduce((sum, state) => sum + (state?.otherReady ?? 0) + (state?.own?.ready ? 1 : 0), 0),
      staysReady: trace.services.get(service)?.spec.publishNotReadyAddresses === true,
    };
  });
}
