/** When the kubelet acted: Killing events, the grace it went by, and what they say about the node's clock. */
import { noMoreThan, offsetAt, toClient, upTo, type Clock } from '../model/clock.ts';
import { atMost, earlierOf, second, type Span } from '../model/span.ts';
import { parseTime } from '../model/stamps.ts';
import type { Occurrence, Trace } from '../model/trace.ts';
import { arrival } from './arrival.ts';
import { mayBeKubeletsOwn } from './before-deletion.ts';
import { withDoubts } from './clocks.ts';
import type { DeletionContext, Kubelet } from './context.ts';
import {
  belongs,
  isAfterNotice,
  isWitnessed,
  loweredGraces,
  ranAtDeletion,
  type Deletion,
  type Grace,
} from './deletion.ts';
import { cite, notAfter, onBothClocks, onClient, type Estimate } from './estimate.ts';
import { moment } from './pod-network.ts';
import { beginsNewAttempt, isStart } from './stop.ts';

/** The Killings of this deletion, oldest first, and what they show of the node's clock. */
export interface Stops {
  readonly own: readonly Occurrence[];
  /** By container. */
  readonly killings: ReadonlyMap<string, readonly Occurrence[]>;
  /** By arrivals and causes alone: it shows whether the clock was set. */
  readonly clock: Clock;
}

export function stopsOf(trace: Trace, deletion: Deletion): Stops {
  const arrivals = trace.clocks.node;
  const all = trace.events.filter(isStop);
  const later = all.filter((event) => belongs(deletion, event, shownBy(arrivals, event)));
  const stops = later.filter((event) => !mayBeKubeletsOwn(trace, deletion, event));
  const own = stops.flatMap((event) => [...firstOf(stops, event, deletion, arrivals), event]);
  const caused = own.reduce((next, event) => withCause(next, event, deletion), arrivals);
  const others = all.filter((event) => !later.includes(event));
  return { own, killings: groupByContainer(own), clock: withDoubts(trace, deletion, caused, others) };
}

/** Nothing that the kubelet did because of the deletion is earlier than its acceptance. */
function withCause(clock: Clock, event: Occurrence, deletion: Deletion): Clock {
  const since = deletion.accepted.client.lo;
  if (!Number.isFinite(since)) return clock;
  const value = event.time.hi - since;
  // A contradiction means that the Killing was not caused by this deletion after all: arrivals are certain, causes are not.
  if (offsetAt(upTo(clock, event.at + 1), since).lo > value) return clock;
  return noMoreThan(clock, { at: since, value, seq: event.seq });
}

/** What the kubelet knew and when, once its Killings are stated. */
export function kubeletOf(known: DeletionContext, { own, killings }: Stops): Kubelet {
  const { trace } = known;
  const noticed = stateNoticed(known, killings);
  const isRetried = [...killings.values()].some((all) => all.length > 1) || trace.events.some(isNewAttempt);
  return { killings, noticed, grace: graceAt(known, { noticed, own, isRetried }) };
}

const isNewAttempt = (event: Occurrence): boolean => beginsNewAttempt(event) && !event.isOld;

const isStop = (event: Occurrence): boolean =>
  event.reason === 'Killing' && event.about.kind === 'Pod' && event.message.startsWith('Stopping container ');

/**
 * A repeated Event names the nanoseconds of its first occurrence. Where that one did not arrive and may be of this
 * deletion, the kubelet began then, not at the repetition.
 */
function firstOf(stops: readonly Occurrence[], event: Occurrence, deletion: Deletion, clock: Clock): Occurrence[] {
  const { named, count, id } = event;
  if (count < 2 || named === undefined || stops.find((one) => one.id === id) !== event) return [];
  const client = toClient(clock, { lo: named, hi: named }, event.at + 1);
  const since = deletion.accepted.client.lo;
  if (client.hi < since) return [];
  return [{ ...event, count: 1, time: { lo: named, hi: client.lo >= since ? named : event.time.hi } }];
}

function groupByContainer(events: readonly Occurrence[]): Map<string, Occurrence[]> {
  const groups = new Map<string, Occurrence[]>();
  for (const event of events) {
    const key = event.about.container ?? '';
    groups.set(key, [...(groups.get(key) ?? []), event]);
  }
  return groups;
}

/** When it was (client), by what had arrived by then: its clock may have been set since. */
const shownBy = (arrivals: Clock, { time, at }: Occurrence): Span => toClient(upTo(arrivals, at + 1), time, at + 1);

/**
 * The first sign of the kubelet: its Killing, or the status that knows of the deletion. Where neither came at all, what the
 * application says of its signal, or the end itself, shows that the kubelet knew by then, not since when.
 */
function stateNoticed(
  { trace, deletion, network }: DeletionContext,
  killings: Stops['killings'],
): Estimate | undefined {
  const stops = [...killings.keys()].map((name) => network.read(moment('stopping', name), 'observed'));
  const statuses = trace.acknowledged ? [arrival(trace, trace.acknowledged, 'pod', deletion.accepted)] : [];
  const signs = stops.length + statuses.length > 0 ? [...stops, ...statuses] : lateSigns(trace, deletion);
  const [first, ...others] = signs;
  if (!first) return undefined;
  const sign = others.reduce(earlier, first);
  // A kubelet that had been there before this one took what it knew with it.
  const isRestarted = trace.events.some((one) => isStart(one) && !one.isOld && one.time.lo <= sign.node.hi);
  network.follows('accepted', 'noticed', {}, { because: 'the kubelet acts on the deletion (§2 S1)' });
  const proof = { because: 'the first sign of the kubelet (§2 S3)', evidence: sign.evidence };
  network.within('noticed', isRestarted ? notAfter(sign) : sign, proof);
  return { ...network.read('noticed', sign.basis), evidence: cite(deletion.accepted.evidence, sign.evidence) };
}

function lateSigns(trace: Trace, { facts, grace }: Deletion): Estimate[] {
  // A terminal phase that came after the deletion: only the kubelet (or PodGC) writes it.
  if (!trace.terminal || !ranAtDeletion({ facts, grace })) return [];
  const lines = [...trace.containers.values()]
    .flatMap(({ log }) => log.signalLines.find((line) => line.at >= facts.seenAt) ?? [])
    .map(({ value, at, seq }) => ({ ...onClient(atMost(at + 1), [seq]), node: atMost(value) }));
  return [...lines, onClient(atMost(trace.terminal.at + 1), [trace.terminal.seq])];
}

const earlier = (a: Estimate, b: Estimate): Estimate => ({
  ...(b.client.hi < a.client.hi ? b : a),
  ...onBothClocks((clock) => earlierOf(a[clock], b[clock])),
});

interface Began {
  readonly noticed: Estimate | undefined;
  /** The Killings of this deletion. */
  readonly own: readonly Occurrence[];
  /** It began again: with whatever grace held then. */
  readonly isRetried: boolean;
}

/**
 * The grace that held when the kubelet began. A later, shorter DELETE does not reach a running kill (trap 3); one that may have
 * come before the kubelet began, or began again, counts as possible.
 */
function graceAt(known: DeletionContext, { noticed, own, isRetried }: Began): Kubelet['grace'] {
  const { trace, deletion } = known;
  const first = Math.max(1, deletion.grace);
  const later = loweredGraces(trace, deletion);
  const since = noticed?.client ?? { lo: -Infinity, hi: Infinity };
  const mayCount = (one: Grace): boolean => !isAfterBegin(known, own, one) && loweredSince(known, one) <= since.hi;
  const possible = later.filter((one) => isRetried || mayCount(one));
  const certain = later.filter((one) => one.at + 1 <= since.lo);
  const least = (graces: typeof later): number => Math.min(first, ...graces.map((one) => Math.max(1, one.value.grace)));
  const likely = Math.max(least(certain), unseenGrace(trace, deletion));
  return { min: least(possible), max: mayHaveBeenLonger(trace, deletion) ? Infinity : likely, likely };
}

/**
 * The pod's own states have an order: this one was written after the kubelet had reported that it knew. A probe's status may do so
 * before it begins (S3): so a Killing must have arrived before this can have been written. That it came first proves nothing:
 * each stream may be late by itself.
 */
function isAfterBegin(known: DeletionContext, own: readonly Occurrence[], grace: Grace): boolean {
  const { trace, deletion } = known;
  const written = Math.max(arrival(trace, grace, 'pod', deletion.accepted).client.lo, loweredSince(known, grace));
  return isAfterNotice(trace, grace.seq) && own.some((killing) => killing.at + 1 <= written);
}

/**
 * Where the first state of the deletion was not seen, its grace may have been lowered before: the kubelet may have begun with
 * the pod's own. The last DELETE's 0 shows nothing of it either (trap 2).
 */
const unseenGrace = (trace: Trace, deletion: Deletion): number =>
  isWitnessed(trace, deletion.facts) ? 0 : (ownGrace(deletion) ?? 0);

/**
 * A grace that is not the pod's own was asked for, and one that was asked for before it may have been longer than either.
 * Only what is asked for lowers a grace, so the pod's own is seldom what another one was lowered to (SIGNALS.md §1 "Repeat
 * delete"), unless it is the 0 of the last one.
 */
const mayHaveBeenLonger = (trace: Trace, deletion: Deletion): boolean =>
  !isWitnessed(trace, deletion.facts) && (deletion.grace === 0 || deletion.grace !== ownGrace(deletion));

const ownGrace = ({ facts }: Deletion): number | undefined => facts.first.value.spec.terminationGracePeriodSeconds;

/**
 * The earliest client time of the write that lowered the grace. A deadline that has merely moved with the grace says
 * nothing of it; any other one was set to "now" (SIGNALS.md §1 "Repeat delete").
 */
function loweredSince(
  { deletion: { facts, grace, accepted }, network }: DeletionContext,
  { value, at }: Grace,
): number {
  const stamp = parseTime(value.deadline);
  const asked = (parseTime(facts.first.value.metadata.deletionTimestamp) ?? NaN) - grace * second;
  if (stamp === undefined || stamp - value.grace * second === asked) return accepted.client.lo;
  return network.toClient('api', { lo: stamp, hi: stamp + second }, at + 1).lo;
}
