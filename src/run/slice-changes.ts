/**
 * Whom a change of an EndpointSlice concerns: the pods whose own endpoint changed, or all of them where the last ready one
 * went or the first came. A Service of 500 pods changes its slices with every pod.
 */
import type { EndpointSlice } from '../model/kube.ts';

export interface SliceChanges {
  /** Uids of pods; `all`: whether any endpoint is ready has changed, for some of them. */
  concerned(slice: EndpointSlice, isDeleted: boolean): ReadonlySet<string> | 'all';
}

export function createSliceChanges(): SliceChanges {
  const known = new Map<string, ReadonlyMap<string, string>>();
  return {
    concerned(slice, isDeleted) {
      const key = `${slice.metadata.namespace ?? ''}/${slice.metadata.name}`;
      const before = known.get(key) ?? new Map<string, string>();
      const now = new Map(isDeleted ? [] : slice.endpoints.map((one) => [one.targetRef?.uid ?? '', stateOf(one)]));
      known.set(key, now);
      // With one ready endpoint left, its own pod sees none and the others see one.
      if (isDeleted || readyIn(before) <= 1 !== readyIn(now) <= 1 || readyIn(now) <= 1) return 'all';
      const changed = [...new Set([...before.keys(), ...now.keys()])].filter((uid) => before.get(uid) !== now.get(uid));
      return new Set(changed);
    },
  };
}

const stateOf = ({ conditions = {} }: EndpointSlice['endpoints'][number]): string =>
  `${conditions.ready ?? true},${conditions.serving ?? ''},${conditions.terminating ?? ''}`;

const readyIn = (states: ReadonlyMap<string, string>): number =>
  [...states.values()].filter((state) => state.startsWith('true')).length;
