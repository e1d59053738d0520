/** The edits and checks of hooks.yaml. */
import { changed, changesOf, listed } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import type { Edit } from './case.ts';
import { aboutPod, also, each } from './edits.ts';

/** A FailedPreStopHook arrives this many ms after the last Killing. */
export const failingAfter =
  (ms: number): Edit =>
  (all) => {
    const last = changesOf(all, 'events').findLast(({ object }) => object['reason'] === 'Killing');
    if (!last) throw new Error('nothing was killed');
    const at = last.at + ms;
    const failure = aboutPod('FailedPreStopHook', 'PreStopHook failed', 0);
    return also((deletion) => changed(at, 'events', failure({ ...deletion, at }), 'ADDED'))(all);
  };

/** Adds these fields to the pod's containers. */
export const declaring = (part: object): Edit =>
  each('pod', (one) => {
    const containers = (one.spec['containers'] as object[]).map((container) => ({ ...container, ...part }));
    return { ...one, spec: { ...one.spec, containers } };
  });

/** The first list holds an Event about the container from this many ms before the deletion. */
export const listedBefore =
  (reason: string, ago: number, count = 1): Edit =>
  (all) => {
    const old = aboutPod(reason, '', -ago, { count, firstMs: -ago - 1000 * (count - 1) });
    return also((deletion) => listed(deletion.runStart + 40, 'events', old(deletion)))(all);
  };

const killingOf = (container: string) => (one: Raw) =>
  one['reason'] === 'Killing' &&
  (one['involvedObject'] as { fieldPath?: string }).fieldPath === `spec.containers{${container}}`;

export const withoutKillingOf = (container: string): Edit =>
  each('events', (one) => (killingOf(container)(one) ? undefined : one));
