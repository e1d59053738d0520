/** When the kubelet acted: its Killing Events, the grace period it used, and what they show about the node's clock. */
import { noMoreThan, stepOf, toClient, upTo } from '../model/clock.ts';
import { atMost, earlierOf, second, type Span } from '../model/span.ts';
import { parseTime, requestedAt } from '../model/stamps.ts';
import type { Occurrence, Trace } from '../model/trace.ts';
import { constrainChange, writtenAt } from './arrival.ts';
import { mayBeKubeletsOwn } from './before-deletion.ts';
import type { DeletionContext, Kubelet } from './context.ts';
import { belongs, loweredGraces, ranAtDeletion, type Deletion, type Grace } from './deletion.ts';
import { cite, noLaterThan, onBothClocks, onClient, unbounded, type Estimate } from './estimate.ts';
import { moment } from './pod-network.ts';
import { isKubeletStart, isStopKilling } from './stop.ts';

/** The Killings of this deletion, and whether the node's clock was set, as arrivals and causes bound it. */
export function stopsOf(trace: Trace, deletion: Deletion) {
  const arrivals = trace.clocks.node;
  const killings = trace.events.filter(isStopKilling);
  // By what had arrived until then, as the clock may have been set since.
  const timeOf = ({ time, at }: Occurrence): Span => toClient(upTo(arrivals, at + 1), time, at + 1);
  const later = killings.filter((event) => belongs(deletion, event, timeOf(event)));
  const all = later.filter((event) => !mayBeKubeletsOwn(trace, deletion, event));
  // What the kubelet did because of the deletion came after its acceptance.
  const since = deletion.accepted.client.lo;
  const causes = all.map(({ time, seq }) => ({ at: since, value: time.hi - since, seq }));
  const caused = Number.isFinite(since) ? causes.reduce(noMoreThan, arrivals) : arrivals;
  return { killings: byContainer(all), unusable: stepOf(caused) };
}

function byContainer(events: readonly Occurrence[]): Map<string, Occurrence[]> {
  const nameOf = ({ about }: Occurrence): string => about.container ?? '';
  return new Map(events.map((event) => [nameOf(event), events.filter((other) => nameOf(other) === nameOf(event))]));
}

/** By the kubelet's first sign; without a Killing or status only at the latest. The Killings must be in the network. */
export function constrainNoticed(
  { trace, deletion, network }: DeletionContext,
  killings: Kubelet['killings'],
): Estimate | undefined {
  const stops = [...killings.keys()].map((name) => network.read(moment('stopping', name), 'observed'));
  const { acknowledged } = trace;
  if (acknowledged) {
    const written = writtenAt(trace, acknowledged, 'pod');
    constrainChange(network, 'acknowledged', { fact: acknowledged, written, after: ['accepted'] });
  }
  const statuses = acknowledged ? [network.read('acknowledged', 'observed')] : [];
  const signs = stops.length + statuses.length > 0 ? [...stops, ...statuses] : lateSigns(trace, deletion);
  const [first, ...others] = signs;
  if (!first) return undefined;
  const earliest = others.reduce((a, b) => (b.client.hi < a.client.hi ? b : a), first);
  const sign = { ...earliest, ...onBothClocks((clock) => signs.map((one) => one[clock]).reduce(earlierOf)) };
  // If the kubelet has restarted, it may have known before.
  const isRestarted = trace.events.some((one) => isKubeletStart(one) && !one.isOld && one.time.lo <= sign.node.hi);
  network.follows('accepted', 'noticed', {}, { because: 'the kubelet acts on the deletion (§2 S1)' });
  const proof = { because: 'the first sign of the kubelet (§2 S3)', evidence: sign.evidence };
  network.within('noticed', isRestarted ? noLaterThan(sign) : sign, proof);
  return { ...network.read('noticed', sign.basis), evidence: cite(deletion.accepted.evidence, sign.evidence) };
}

/** In a terminating namespace, say: it accepts no Events. Only the kubelet (or PodGC) writes a terminal phase. */
function lateSigns(trace: Trace, deletion: Deletion): Estimate[] {
  if (!trace.terminal || !ranAtDeletion(deletion)) return [];
  const lines = [...trace.containers.values()]
    .flatMap(({ log }) => log.signalLines.find((line) => line.at >= deletion.facts.seenAt) ?? [])
    .map(({ value, at, seq }) => ({ ...onClient(atMost(at + 1), [seq]), node: atMost(value) }));
  return [...lines, onClient(atMost(trace.terminal.at + 1), [trace.terminal.seq])];
}

/** A later, shorter DELETE does not affect a running kill (trap 3). */
export function graceInForce(context: DeletionContext, noticed = unbounded): Kubelet['grace'] {
  const { trace, deletion } = context;
  const first = Math.max(1, deletion.grace);
  const lowered = loweredGraces(trace, deletion);
  const since = noticed.client;
  const possible = lowered.filter((grace) => loweredSince(context, grace) <= since.hi);
  const certain = lowered.filter(({ at }) => at + 1 <= since.lo);
  const minOf = (graces: Grace[]): number => Math.min(first, ...graces.map(({ value }) => Math.max(1, value.grace)));
  const own = deletion.pod.spec.terminationGracePeriodSeconds;
  const likely = Math.max(minOf(certain), deletion.isWitnessed ? 0 : (own ?? 0));
  // An unseen grace (trap 2) may have been longer than the pod's own (SIGNALS.md §1 "Repeat delete").
  const mayBeLonger = !deletion.isWitnessed && (deletion.grace === 0 || deletion.grace !== own);
  return { min: minOf(possible), max: mayBeLonger ? Infinity : likely, likely };
}

/** The earliest client time of the write that lowered the grace, by its deadline (SIGNALS.md §1 "Repeat delete"). */
function loweredSince({ deletion, network }: DeletionContext, { value }: Grace): number {
  const { pod, accepted } = deletion;
  const stamp = parseTime(value.deadline);
  if (stamp === undefined || stamp - value.grace * second === requestedAt(pod)) return accepted.client.lo;
  return network.toClient('api', { lo: stamp, hi: stamp + second }).lo;
}
