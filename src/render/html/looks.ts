/** What the picture and its style sheet must agree on: each kind of bar has a colour of its own. */
import { phaseNames } from '../../model/report.ts';
import { phaseNames as phaseTexts } from '../details.ts';

export const looks = [...phaseNames, 'routed', 'listed', 'starting', 'ready', 'answered', 'failed', 'own'] as const;
export type Look = (typeof looks)[number];

const states: Partial<Record<Look, string>> = {
  routed: 'in Service',
  listed: 'removed from Service, endpoint still listed',
  starting: 'replacement starting',
  ready: 'replacement ready',
  answered: 'probe requests answered',
  failed: 'probe requests failed',
  own: 'the pod itself did not answer',
};

/** What people call it. */
export const lookText = (look: Look): string => states[look] ?? phaseTexts[look as keyof typeof phaseTexts];
