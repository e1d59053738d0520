/** What each container of a pod is for: it serves, helps, or is needed by the one that serves. Pure. */
import { imageName } from '../programs/images.ts';
import type { ContainerSpec } from './container-spec.ts';
import type { ServiceSpec } from './neighbours.ts';
import type { Situation } from './situation.ts';

/** A Job's pods end by themselves, and nothing is asked of them while they stop. */
export const isJob = ({ subject: { kind } }: Pick<Situation, 'subject'>): boolean =>
  kind === 'Job' || kind === 'CronJob';

/** Containers that get a stop signal when the pod is deleted. */
export const signalled = ({ containers }: Pick<Situation, 'containers'>): readonly ContainerSpec[] =>
  containers.filter(({ isOver, kind }) => !isOver && kind !== 'init');

/** Names of containers or images that only help the application: proxies, log shippers, agents, exporters. */
const helperNames =
  /^(istio-proxy|proxyv2|linkerd-proxy|envoy|envoy-sidecar|cloud-?sql-proxy|cloudsql-proxy|gce-proxy|alloydb-auth-proxy|fluent-?bit|fluentd|filebeat|promtail|vector|vault-agent|consul-dataplane|consul-agent|otel-collector|opentelemetry-collector(-contrib)?|daprd|oauth2-proxy|kube-rbac-proxy|datadog-agent|logrotate|log-shipper|git-sync|config-reloader|prometheus-config-reloader|configmap-reload)$/;

/** In a pod of helpers only, each is an application. Whatever its name, so is one that clients or the kubelet ask. */
export function mainContainers(situation: Situation): { applications: ContainerSpec[]; helpers: ContainerSpec[] } {
  const mains = signalled(situation).filter(({ kind }) => kind === 'main');
  const isAsked = (one: ContainerSpec): boolean =>
    one.hasReadinessProbe || one.ports.some(({ hostPort }) => hostPort) || servesAny(situation, one);
  const isHelper = (one: ContainerSpec): boolean =>
    !isAsked(one) && (helperNames.test(one.name) || helperNames.test(imageName(one.image)));
  const applications = mains.filter((one) => !isHelper(one));
  return applications.length > 0
    ? { applications, helpers: mains.filter(isHelper) }
    : { applications: mains, helpers: [] };
}

const servesAny = ({ services }: Situation, container: ContainerSpec): boolean =>
  services.some(({ targetPorts }) => targetPorts.some((port) => serves(container, port)));

export const serves = ({ ports }: ContainerSpec, target: ServiceSpec['targetPorts'][number]): boolean =>
  ports.some(({ name, port, protocol }) => [name, port].includes(target.port) && protocol === target.protocol);

/** Services whose clients could lose requests: they send only to ready pods, and are more than a monitoring system. */
export const servicesOfClients = (situation: Situation): ServiceSpec[] =>
  isJob(situation)
    ? []
    : situation.services.filter((one) => !one.publishNotReadyAddresses && one.clients !== 'metrics-only');

/** Containers that declare a target port; else applications that declare no ports, which is allowed; else the first. */
export function containersThatServe(situation: Situation, services = situation.services): ContainerSpec[] {
  if (services.length === 0) return [];
  const serving = signalled(situation).filter((one) => servesAny({ ...situation, services }, one));
  if (serving.length > 0) return serving;
  const { applications } = mainContainers(situation);
  const undeclared = applications.filter(({ ports }) => ports.length === 0);
  return undeclared.length > 0 ? undeclared : applications.slice(0, 1);
}

/** Names of containers that only report about the application, so that it does not need them. */
const monitors = /(^|-)(metrics|exporter|reloader|monitor)$/;

/** Other applications of the pod, which the serving ones may need. */
export function companionsOf(situation: Situation, serving: readonly ContainerSpec[]): ContainerSpec[] {
  const names = new Set(serving.map(({ name }) => name));
  return mainContainers(situation).applications.filter(({ name }) => !names.has(name) && !monitors.test(name));
}

/** Seconds for which the container certainly keeps running after the deletion, by its hook; undefined if unknown. */
export function hookSecondsOf({ hook, measured }: ContainerSpec): number | undefined {
  if (!hook) return 0;
  if (hook.kind === 'tcpSocket' || hook.neverRuns || hook.stopsServer) return 0;
  return hook.minSeconds ?? measured?.hookSeconds;
}
