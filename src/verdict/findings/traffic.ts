/** Findings about the Services that route to the pod. */
import type { ContainerExit } from '../../infer/container.ts';
import type { EndpointExit } from '../../infer/endpoints.ts';
import type { Estimate } from '../../infer/estimate.ts';
import { crossed, onNode } from '../../infer/estimate.ts';
import type { Finding } from '../../model/report.ts';
import type { Span } from '../../model/span.ts';
import { second } from '../../model/span.ts';
import type { Trace } from '../../model/trace.ts';
import { isSignalFirm } from '../../infer/view/told.ts';
import { emptySpells } from '../empty-spells.ts';
import type { Scene } from '../scene.ts';
import { isWhole, mainsOf } from '../scene.ts';
import { exactSeconds, plural, servicesNamed } from '../words.ts';

export const trafficFindings = (scene: Scene): Finding[] => [
  ...drainRace(scene),
  ...lastEndpoint(scene),
  ...noReadyEndpoint(scene),
  ...staysReady(scene),
];

const serviceName = (endpoint: EndpointExit): string => endpoint.service ?? endpoint.slice;

interface Race {
  endpoint: EndpointExit;
  container: ContainerExit;
  lead: Span;
  hard: boolean;
  evidence: readonly number[];
}

/** The stop signal certainly came less than a second after the endpoint was unrouted, or before it. */
function drainRace(scene: Scene): Finding[] {
  const races = scene.exit.endpoints.flatMap((endpoint) =>
    endpoint.unrouted && !endpoint.staysReady
      ? mainsOf(scene).flatMap((container) => race(scene, endpoint, container))
      : [],
  );
  const [worst] = races.sort((a, b) => Number(b.hard) - Number(a.hard) || a.lead.hi - b.lead.hi);
  if (!worst) return [];
  const services = servicesNamed([...new Set(races.map(({ endpoint }) => serviceName(endpoint)))]);
  const { name } = worst.container.spec;
  const lost = worst.hard
    ? `; ${name} was gone or refused connections less than 1 s later, so requests may have been lost`
    : '';
  return [
    {
      code: 'drain-race',
      severity: worst.hard ? 'warning' : 'info',
      message: `${askedWords(worst)} ${leadWords(worst.lead)} ${services} took it out of its ready endpoints; proxies and load balancers learn of that later still, so clients may have been sent to it meanwhile${lost}`,
      advice:
        'A preStop sleep of 5 s keeps the application serving while clients are told; raise terminationGracePeriodSeconds by as much.',
      evidence: [...new Set(worst.evidence)],
    },
  ];
}

function race(scene: Scene, endpoint: EndpointExit, container: ContainerExit): Race[] {
  const { unrouted } = endpoint;
  // Without a hook the kubelet asks for the signal right at Killing; how long the runtime takes is an assumption.
  const signal = isSignalFirm(scene.trace, container) ? container.signal : undefined;
  const call = container.hook ? signal : (container.stopping ?? signal);
  if (!unrouted || !call) return [];
  // It was asked for no later than it came.
  const latest = Math.min(call.client.hi, signal?.client.hi ?? Infinity);
  const lead = { lo: call.client.lo - unrouted.client.hi, hi: latest - unrouted.client.lo };
  if (!(lead.hi < second)) return [];
  const hard = [container.exit?.at, refusedAt(scene, container)].some(
    (moment) => moment && moment.client.hi - unrouted.client.lo < second,
  );
  return [{ endpoint, container, lead, hard, evidence: [...unrouted.evidence, ...call.evidence] }];
}

const askedWords = ({ container: { spec, hook, stopping } }: Race): string =>
  stopping && !hook ? `the kubelet asked ${spec.name} to stop` : `the stop signal reached ${spec.name}`;

/** Only what is proved: the signal may also have come at any time before. */
function leadWords(lead: Span): string {
  if (lead.hi <= 0) return `at least ${exactSeconds(-lead.hi)} before`;
  return `at most ${exactSeconds(lead.hi)} after${lead.lo < 0 ? ' (perhaps before)' : ''}`;
}

/** A readiness probe found the port closed after the deletion: the application had stopped listening by then. */
function refusedAt({ trace, exit }: Scene, { spec, stopping }: ContainerExit): Pick<Estimate, 'client'> | undefined {
  const since = exit.deletion.accepted.client.lo;
  const refused = trace.events.find(
    (event) =>
      event.reason === 'Unhealthy' &&
      event.about.container === spec.name &&
      (event.time.lo >= (stopping?.node.lo ?? Infinity) ||
        crossed(onNode(event.time, []), exit.kubelet.clock).client.lo >= since) &&
      event.message.includes('Readiness') &&
      event.message.includes('connection refused') &&
      !event.isOld &&
      event.count === 1,
  );
  return refused && { client: { lo: -Infinity, hi: refused.at + 1 } };
}

/** Where all that serves is taken down, nobody is to be left (SIGNALS.md §4). */
function lastEndpoint(scene: Scene): Finding[] {
  const { trace, exit } = scene;
  if (isWhole(scene)) return [];
  const alone = exit.endpoints.filter((endpoint) => endpoint.unrouted && endpoint.otherReady === 0);
  const services = [...new Set(alone.map(serviceName))];
  return services.map((service) => ({
    code: 'last-endpoint',
    severity: 'warning',
    message: `when it was unrouted, Service ${service} had no other ready ${familyWord(trace, service, alone)}endpoint`,
    advice:
      'Run at least two replicas, let a rollout surge (maxUnavailable 0), and protect them with a PodDisruptionBudget.',
    evidence: [
      ...new Set(
        alone
          .filter((one) => serviceName(one) === service)
          .flatMap((one) => [...(one.unrouted?.evidence ?? []), ...one.counted]),
      ),
    ],
  }));
}

/** A slice has endpoints of one address type: one family says nothing of another (SIGNALS.md §3). */
function familyWord(trace: Trace, service: string, alone: readonly EndpointExit[]): string {
  const slices = [...trace.slices.values()].filter((one) => (one.service ?? one.slice.metadata.name) === service);
  const all = new Set(slices.map(({ slice }) => slice.addressType));
  const told = new Set(alone.filter((one) => serviceName(one) === service).map(({ addressType }) => addressType));
  return told.size < all.size ? `${[...told].join(' or ')} ` : '';
}

function noReadyEndpoint(scene: Scene): Finding[] {
  return emptySpells(scene.trace, scene.exit).map((spell) => ({
    code: 'no-ready-endpoint',
    severity: 'error',
    message: `Service ${spell.service} had no ready endpoint for ${spell.open ? 'at least ' : ''}${exactSeconds(spell.ms)}${spell.open ? ', and still none when podexit stopped looking' : ''}`,
    advice: `Meanwhile new requests had at best endpoints that were terminating, if those still served, and else failed${isWhole(scene) ? '.' : ': have the replacement ready first (more replicas, or a rolling update with maxUnavailable 0).'}`,
    evidence: spell.evidence,
  }));
}

function staysReady({ exit }: Scene): Finding[] {
  const kept = exit.endpoints.filter(
    (endpoint) => endpoint.staysReady && endpoint.wasReady && wasReadyToTheEnd(endpoint),
  );
  const services = [...new Set(kept.map(serviceName))];
  return services.map((service) => ({
    code: 'stays-ready',
    severity: 'info',
    message: `Service ${service} sets publishNotReadyAddresses: the endpoint stayed ready until it was removed, so clients were sent there while it drained (${plural(kept.length, 'slice')})`,
    evidence: [
      ...new Set(
        kept
          .filter((one) => serviceName(one) === service)
          .flatMap((one) => [...one.counted, ...(one.removed?.evidence ?? [])]),
      ),
    ],
  }));
}

/** What took it out of the ready endpoints, if anything did, was its removal. */
const wasReadyToTheEnd = ({ unrouted, removed, counted }: EndpointExit): boolean =>
  !unrouted || counted.some((seq) => removed?.evidence.includes(seq));
