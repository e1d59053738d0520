/** Pods with an owner, and what the evidence of a trigger says. */
import type { Story } from '../sim/story.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { adding, editing, eventOf, listed, markedIn, ownedBy, ownerOf, storyObservations } from './cases.ts';
import type { Raw } from './cases.ts';
import { somebody } from './story-changes.ts';

/** What the evidence of the trigger says. */
export const linesOf = ({ trigger, observations }: ExitReport): string[] =>
  observations.filter(({ seq }) => trigger.evidence.includes(seq)).map(({ what }) => what);

/** A pod of this owner that some client deletes, with the owner known before. */
export function ownedCase(kind: string, name: string, owner: Partial<Raw> = {}, change: Partial<Story> = {}) {
  const rawObservations = editing(storyObservations({ ...somebody, ...change }), 'pod', ownedBy(kind, name));
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
