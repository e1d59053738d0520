/** Pods with an owner, and the evidence of a trigger. */
import type { Story } from '../sim/story.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { adding, editing, eventOf, listed, markedIn, ownedBy, ownerOf, storyObservations, type Raw } from './cases.ts';
import { anotherClient } from './story-changes.ts';

/** The evidence of the trigger as text. */
export const linesOf = ({ trigger, observations }: ExitReport): string[] =>
  observations.filter(({ seq }) => trigger.evidence.includes(seq)).map(({ what }) => what);

/** A pod of this owner that another client deletes. The owner is known before. */
export function ownedCase(kind: string, name: string, owner: Partial<Raw> = {}, change: Partial<Story> = {}) {
  const rawObservations = editing(storyObservations({ ...anotherClient, ...change }), 'pod', ownedBy(kind, name));
  const begin = rawObservations[0]?.at ?? 0;
  const at = markedIn(rawObservations).at;
  return { at, rawObservations: adding(rawObservations, listed(begin + 100, 'owner', ownerOf(kind, name, owner))) };
}

export const successfulDelete = (
  kind: string,
  name: string,
  component: string,
  message: string,
  at: number,
  times = {},
) => eventOf({ kind, name, uid: `uid-${name}` }, { reason: 'SuccessfulDelete', message, component }, { at, ...times });
