/** The edits of standstill.yaml: what answers came, and how late. */
import { editing } from '../../helpers/cases.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import type { Edit } from './case.ts';

type Answer = Extract<RawObservation, { kind: 'dated' }>;

/** Every answer is changed, or left out (undefined). */
const eachAnswer =
  (edit: (one: Answer) => Answer | undefined): Edit =>
  (all) =>
    all.flatMap((one): RawObservation[] => (one.kind === 'dated' ? [edit(one) ?? []].flat() : [one]));

/** The same, for answers to the questions that podexit asks about what it watches. */
const eachRead = (edit: (one: Answer) => Answer): Edit => eachAnswer((one) => (one.read ? edit(one) : one));

const isOfLease = (one: RawObservation): boolean => 'stream' in one && one.stream === 'lease';

export const noLateAnswer = eachAnswer((one) => (one.at - one.sentAt > 1000 ? undefined : one));
export const nothingFromMemory = eachAnswer((one) => (one.read === 'cached' ? undefined : one));
export const memoryAnsweringInHalfASecond = eachAnswer((one) =>
  one.read === 'cached' ? { ...one, sentAt: one.at - 500 } : one,
);
export const answeringAtOnce = eachAnswer((one) => ({ ...one, sentAt: one.at }));
export const questionsFail = eachRead((one) => ({ ...one, read: 'failed' }));
export const questionsWait = eachRead((one) => ({ ...one, sentAt: one.at - 1500 }));
export const noQuestionAboutTheStore = eachRead(({ read: _, ...one }) => one);
export const noLease: Edit = (all) => all.filter((one) => !isOfLease(one));
export const noRenewal: Edit = (all) => all.filter((one) => one.kind !== 'changed' || !isOfLease(one));

/** The renewals were written when they say. */
export const renewedInTime: Edit = (all) =>
  editing(all, 'lease', ({ metadata, spec, ...lease }) => {
    const time = `${String(spec['renewTime']).slice(0, 19)}Z`;
    return { ...lease, spec, metadata: { ...metadata, managedFields: [{ manager: 'kubelet', time }] } };
  });
