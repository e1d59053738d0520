/** What cases change of what arrived. Times are milliseconds from the arrival of the first state with deletionTimestamp. */
import type { StreamName } from '../../../src/model/observation.ts';
import {
  adding,
  attached,
  changed,
  editing,
  listed,
  markedIn,
  ownedBy,
  ownerOf,
  without,
} from '../../helpers/cases.ts';
import type { Change, Raw } from '../../helpers/cases.ts';
import { statusesIn } from '../../helpers/raw-edits.ts';
import type { Edit } from './case.ts';

/** Somebody else's deletion, which the run only watched. */
export const attach: Edit = (all) => attached(all);

export const withoutStreams =
  (...streams: StreamName[]): Edit =>
  (all) =>
    without(all, ...streams);

/** Every object of the stream becomes what `change` makes of it; undefined leaves it out. */
export const each =
  (stream: StreamName, change: (object: Raw) => Raw | undefined): Edit =>
  (all) =>
    editing(all, stream, change);

/** The same where the object is being deleted. */
export const eachDeleted = (change: (pod: Raw) => Raw): Edit =>
  each('pod', (pod) => (pod.metadata['deletionTimestamp'] === undefined ? pod : change(pod)));

/** Every status of a container. */
export const eachStatus = (change: (status: ReturnType<typeof statusesIn>[number]) => void): Edit =>
  each('pod', (pod) => {
    statusesIn(pod).forEach(change);
    return pod;
  });

/** What a case knows of the deletion it is about. */
export interface Deletion {
  /** Client time of its first state, ms. */
  at: number;
  /** Client time of the run's beginning, ms. */
  began: number;
  pod: Raw;
}

/** An object changes at that time; `object` may be made of what is known of the deletion. */
export const change =
  (ms: number, stream: StreamName, object: Raw | ((deletion: Deletion) => Raw), how?: Change['change']): Edit =>
  (all) => {
    const deletion = deletionIn(all);
    const raw = typeof object === 'function' ? object(deletion) : object;
    return adding(all, changed(deletion.at + ms, stream, raw, how));
  };

/** A list is read at that time. */
export const list =
  (ms: number, stream: StreamName, ...objects: ((deletion: Deletion) => Raw)[]): Edit =>
  (all) => {
    const deletion = deletionIn(all);
    return adding(all, listed(deletion.at + ms, stream, ...objects.map((object) => object(deletion))));
  };

/** An object that is in the first list of its stream as well. */
export const inList =
  (stream: StreamName, object: (deletion: Deletion) => Raw): Edit =>
  (all) => {
    const deletion = deletionIn(all);
    return all.map((one) =>
      one.kind === 'listed' && one.stream === stream ? { ...one, objects: [...one.objects, object(deletion)] } : one,
    );
  };

/** The pod has this owner, which is known from the beginning of the run. */
export const owned =
  (kind: string, name: string, owner: Partial<Raw> = {}): Edit =>
  (all) => {
    const began = all[0]?.at ?? 0;
    return adding(editing(all, 'pod', ownedBy(kind, name)), listed(began + 100, 'owner', ownerOf(kind, name, owner)));
  };

function deletionIn(all: Parameters<Edit>[0]): Deletion {
  const { at, object } = markedIn(all);
  return { at, began: all[0]?.at ?? 0, pod: object };
}
