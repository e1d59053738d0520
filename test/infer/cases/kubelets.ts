/** The edits and checks of kubelets.yaml. */
import type { RawObservation, StreamName } from '../../../src/model/observation.ts';
import { adding, changed, containerOf, editing, markOf, stampOf, type Raw } from '../../helpers/cases.ts';
import type { Check, Edit } from './case.ts';
import { aboutPod, also, arriving, deletionIn, each, eachStatus, retimed, statusesIn } from './edits.ts';
import { expect } from 'vitest';

const probe = 'Container app failed liveness probe, will be restarted';

/** `change` changes every Event with this reason. */
const eachEvent =
  (reason: string, change: (event: Raw, at: number) => Raw): Edit =>
  (all) =>
    each('events', (one) => (one['reason'] === reason ? change(one, deletionIn(all).at) : one))(all);

/** The container `legacy` was added for debugging. */
export const debugging = each('pod', (object) => {
  const isOld = (one: Record<string, unknown>) => one['name'] === 'legacy';
  const containers = object.spec['containers'] as Raw[];
  const statuses = statusesIn(object);
  Object.assign(object.spec, {
    containers: containers.filter((one) => !isOld(one)),
    ephemeralContainers: containers.filter(isOld),
  });
  Object.assign(object.status, {
    containerStatuses: statuses.filter((one) => !isOld(one)),
    ephemeralContainerStatuses: statuses.filter(isOld),
  });
  return object;
});

/** The hook fails this long after the deletion. */
export const hookFailsAfter =
  (ms: number): Edit =>
  (all) => {
    const late = eachEvent('FailedPreStopHook', (one, at) => retimed(one, at + ms))(all);
    return arriving((one, { at }) =>
      one.kind === 'changed' && (one.object as Raw)['reason'] === 'FailedPreStopHook' ? at + ms + 3 : one.at,
    )(late);
  };

export const nothingIsOverdue: Check = ({ marks }) =>
  expect(marks.filter(({ note = '' }) => note.includes('overdue'))).toEqual([]);

export const killingRepeated = eachEvent('Killing', (one) => ({ ...one, count: 2 }));

export const killingFromItsFirstTime: Check = (report, _, untouched) => {
  const [first, known] = [report, untouched()].map((one) => markOf(one, 'stopping/app').at);
  const [signal, before] = [report, untouched()].map((one) => containerOf(one).stopSignal);
  expect(first?.earliest).toBe(known?.earliest);
  expect(Date.parse(first?.latest ?? '')).toBeLessThan(Date.parse(known?.latest ?? '') + 50);
  expect((signal?.earliest ?? '~') <= (known?.earliest ?? '')).toBe(true);
  expect((signal?.latest ?? '') >= (before?.latest ?? '~')).toBe(true);
};

/** A probe that failed this long before the deletion is why the container is killed. */
export const killingByProbe = (ms: number): Edit =>
  eachEvent('Killing', (one, at) => retimed({ ...one, message: probe }, at - ms));

/** Once it has ended, the phase of the pod is Failed, with this reason. */
export const failedFor = (reason?: string): Edit =>
  each('pod', (one) =>
    ['Failed', 'Succeeded'].includes(String(one.status['phase']))
      ? { ...one, status: { ...one.status, phase: 'Failed', reason } }
      : one,
  );

/** Every run of the container starts at this time. */
const startingAt =
  (startedAt: (at: number) => number): Edit =>
  (all) => {
    const stamp = stampOf(startedAt(deletionIn(all).at));
    return eachStatus(({ state }) => {
      for (const run of [state['running'], state['terminated']]) if (run) Object.assign(run, { startedAt: stamp });
    })(all);
  };

const secondOf = (at: number) => Math.floor((at - 1500) / 1000) * 1000;

export const startedInSecond = startingAt(secondOf);

/** The Event about a kill happened three times, at last this long after the start of that second. */
export const inThatSecond = (reason: string, ms: number, message = probe): Edit =>
  also((deletion) => {
    const at = secondOf(deletion.at) + ms;
    return changed(at + 8, 'events', aboutPod(reason, message, at - deletion.at, { count: 3 })(deletion), 'ADDED');
  });

/** The main container exits 4 s before the deletion; its Killing is missing. */
export const mainOver =
  (restartPolicy: string): Edit =>
  (all) => {
    const terminated = { exitCode: 0, reason: 'Completed', finishedAt: stampOf(deletionIn(all).at - 4000) };
    const silent = editing(all, 'events', (one) =>
      JSON.stringify(one['involvedObject']).includes('work') ? undefined : one,
    );
    return editing(silent, 'pod', (one) => {
      one.spec['restartPolicy'] = restartPolicy;
      for (const status of statusesIn(one)) if (status['name'] === 'work') status.state = { terminated };
      return one;
    });
  };

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

/** These streams bring nothing for a minute, from 10 ms after the deletion on. */
export const minuteOfSilence =
  (...streams: StreamName[]): Edit =>
  (all) => {
    const since = deletionIn(all).at + 10;
    const to = since + 60_000;
    const resumed = streams.map((stream): RawObservation => ({ at: to, kind: 'resumed', stream, since }));
    return adding(
      all.map((one) => (one.at > since ? { ...one, at: to + one.at - since } : one)),
      ...resumed,
    );
  };

/** Each image was pulled, which is one more of the 25 Events that are listed. */
export const imagesPulled: Edit = (all) =>
  all.map((one) => {
    if (one.kind !== 'listed' || one.stream !== 'events') return one;
    const [scheduled, ...others] = one.objects as Raw[];
    const pulling = (event: Raw, at: number): Raw => ({
      ...event,
      reason: 'Pulling',
      metadata: { ...event.metadata, name: `${event.metadata.name}${at}`, uid: `pulling-${at}` },
    });
    const written = others.flatMap((event, at) =>
      event['reason'] === 'Pulled' ? [pulling(event, at), event] : [event],
    );
    return { ...one, objects: [scheduled, ...written.slice(0, 24)] };
  });
