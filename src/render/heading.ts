/** The first lines of lines mode: which pod it is, its grace period, its containers with their hooks and probes. */
import type { Timeline } from '../infer/timeline.ts';
import type { Probe } from '../model/observe/container.ts';
import { containersOf, controllerOf } from '../model/pod.ts';
import { hookText } from './mark-text.ts';
import type { Pen } from './palette.ts';
import { dim, flow, padTo, piece, plain, shorten, textWidth } from './prose.ts';
import { forTerminal } from './safe-text.ts';
import { dayText, type Timestamps } from './time-text.ts';

export function headingLines(pen: Pen, timeline: Timeline, timestamps: Timestamps, width: number): string[] {
  const { pod, now } = timeline;
  const facts = [
    ownerText(timeline),
    pod.spec.nodeName === undefined ? 'not scheduled' : `node ${pod.spec.nodeName}`,
    graceText(timeline),
    pod.spec.runtimeClassName === undefined ? undefined : `runtime class ${pod.spec.runtimeClassName}`,
    timestamps === 'relative' ? undefined : dayText(now, timestamps),
  ];
  const title = [
    piece('strong', forTerminal(podText(timeline))),
    dim(facts.flatMap((fact) => (fact === undefined ? [] : ` · ${forTerminal(fact)}`)).join('')),
  ];
  const rows = containersOf(pod).filter(({ kind }) => kind === 'container' || kind === 'sidecar');
  const names = rows.map(({ name }) => shorten(pen, forTerminal(name), 24));
  const wide = Math.max(0, ...names.map(textWidth));
  return [
    ...flow(pen, title, { width, hang: 2 }),
    ...rows.flatMap(({ name, kind, container }, index) => {
      const hook = hookText(name, timeline);
      const words = [
        ...(kind === 'sidecar' ? ['sidecar'] : []),
        hook === undefined ? 'no preStop' : `preStop ${hook}`,
        probeText(container.readinessProbe),
      ];
      const pieces = [plain('  '), piece('accent', padTo(names[index] ?? '', wide)), plain(`  ${words.join(' · ')}`)];
      return flow(pen, pieces, { width, hang: wide + 4 });
    }),
  ];
}

/** `shop/checkout-6677656c54-258qr` */
export const podText = ({ pod: { metadata } }: Pick<Timeline, 'pod'>): string =>
  `${metadata.namespace ?? ''}/${metadata.name}`;

/** `deployment/checkout`: the workload, else the pod's controller; undefined for a pod without one. */
export function ownerText({ pod, workload }: Pick<Timeline, 'pod' | 'workload'>): string | undefined {
  const owner = workload ?? controllerOf(pod);
  return owner && `${owner.kind.toLowerCase()}/${owner.name}`;
}

function graceText({ grace: { effectiveSeconds, specSeconds } }: Timeline): string {
  const spec = effectiveSeconds === specSeconds ? '' : ` (${specSeconds}s in its spec)`;
  return `grace period ${effectiveSeconds}s${spec}`;
}

function probeText(probe: Probe | undefined): string {
  if (!probe) return 'no readiness probe';
  if (probe.exec) return 'readiness exec';
  const [kind, port] = probe.tcpSocket
    ? ['tcp', probe.tcpSocket.port]
    : probe.httpGet
      ? ['http', probe.httpGet.port]
      : ['grpc', probe.grpc?.port];
  return port === undefined ? `readiness ${kind}` : `readiness ${kind} :${port}`;
}
