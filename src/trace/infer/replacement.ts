/**
 * The pod that takes over: of the same name, or of the same owner. Only a rollout makes it before the old pod is
 * deleted; any other one that was there had work of its own.
 */
import { toClient } from '../clock.ts';
import { controllerOf, isOlder } from '../pod.ts';
import { parseFloor } from '../stamps.ts';
import type { TriggerKind } from '../report.ts';
import { ageOf } from '../siblings.ts';
import type { Fact, SiblingFacts, Trace } from '../trace.ts';
import { arrival } from './arrival.ts';
import type { Deletion } from './deletion.ts';
import type { Estimate } from './estimate.ts';
import { narrowed, notBefore, onClient, unbounded } from './estimate.ts';

export interface Replacement {
  readonly name: string;
  readonly uid: string;
  readonly created: Estimate;
  readonly ready?: Estimate;
}

export function replacementOf(trace: Trace, deletion: Deletion, trigger: TriggerKind): Replacement | undefined {
  const candidates = [...trace.siblings]
    .filter(([, facts]) => ageOf(trace, facts) === 'new' && (trigger === 'rollout' || !wasBefore(deletion, facts)))
    .sort(([, a], [, b]) => a.seen.seq - b.seen.seq);
  const own = deletion.facts.first.value;
  const successor = candidates.find(([, facts]) => facts.pod.metadata.name === own.metadata.name);
  const sameOwner = candidates.find(([, facts]) => controllerOf(facts.pod)?.uid === controllerOf(own)?.uid);
  const [uid, facts] = successor ?? sameOwner ?? candidates[0] ?? [];
  return uid === undefined || !facts ? undefined : replacement(trace, deletion, uid, facts);
}

function wasBefore(deletion: Deletion, { pod, seen }: SiblingFacts): boolean {
  const stamp = parseFloor(pod.metadata.creationTimestamp);
  const { accepted, facts, api } = deletion;
  const isStamped = stamp !== undefined && toClient(api, stamp, seen.at + 1).hi < accepted.client.lo;
  return isStamped || isOlder(pod.metadata.resourceVersion, facts.first.value.metadata.resourceVersion);
}

function replacement(trace: Trace, deletion: Deletion, uid: string, facts: SiblingFacts): Replacement {
  const stamp = parseFloor(facts.pod.metadata.creationTimestamp);
  const seen = toldBy(trace, facts, facts.seen, unbounded);
  const told = stamp
    ? narrowed(seen, onClient(toClient(deletion.api, stamp, facts.seen.at + 1), [facts.seen.seq]))
    : seen;
  // resourceVersions of pods may be compared: one that came up later was created later. In a list it may be of a change.
  const after =
    facts.listedFirst ||
    isOlder(deletion.facts.first.value.metadata.resourceVersion, facts.pod.metadata.resourceVersion);
  const created = after
    ? narrowed(told, { ...notBefore(deletion.accepted), evidence: [deletion.facts.seenSeq] })
    : told;
  const ready = facts.ready && toldBy(trace, facts, facts.ready, created);
  return { name: facts.pod.metadata.name, uid, created, ...(ready ? { ready } : {}) };
}

/** What stands in a late first list may have been so for long. */
function toldBy(trace: Trace, { listedFirst, seen }: SiblingFacts, fact: Fact<true>, cause: Estimate): Estimate {
  if (!listedFirst || fact.seq !== seen.seq) return arrival(trace, fact, 'siblings', cause);
  return narrowed(onClient({ lo: -Infinity, hi: fact.at + 1 }, [fact.seq], 'observed'), {
    ...notBefore(cause),
    evidence: [],
  });
}
