/** The edits and checks of ends.yaml. */
import type { RawObservation } from '../../../src/model/observation.ts';
import { adding, changed, changesOf, editing, stampOf } from '../../helpers/cases.ts';
import type { Edit } from './case.ts';
import { arriving, deletionIn, each, eachStatus, event, podBefore, statusesIn } from './edits.ts';

/** In the first list the container has exited with 1, this many ms before the deletion. Then it runs again. */
export const crashedBefore =
  (ago: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    const running = podBefore(all);
    const version = BigInt(String(running.metadata['resourceVersion']));
    const stamps = { startedAt: stampOf(at - ago - 60_000), finishedAt: stampOf(at - ago) };
    const crashed = editing(all, 'pod', (one, rawObservation) => {
      if (rawObservation.kind !== 'listed' || one.metadata.uid !== running.metadata.uid) return one;
      for (const status of statusesIn(one))
        Object.assign(status, { ready: false, state: { terminated: { exitCode: 1, reason: 'Error', ...stamps } } });
      return { ...one, metadata: { ...one.metadata, resourceVersion: String(version - 1n) } };
    });
    return adding(crashed, changed(at - 500, 'pod', running));
  };

export const started = (ms: number) => event('Started', 'Started container app', -ms);

/** The log stream of `worker` breaks. */
export const workerLogBreaks: Edit = (all) => {
  const { at } = deletionIn(all);
  const isIts = (one: RawObservation) => one.kind === 'log-ended' && one.container === 'worker' && one.at < at + 8000;
  return all.map((one) => (isIts(one) ? { ...one, clean: false } : one));
};

/** A status update 0.4 s after the deletion already reports the container's exit. */
export const exitReportedEarly: Edit = (all) => {
  const { at, pod: object } = deletionIn(all);
  const { containerStatuses } = changesOf(all, 'pod').at(-1)?.object.status ?? {};
  const { resourceVersion: _later, ...metadata } = object.metadata;
  const printed = { ...object, metadata, status: { ...object.status, containerStatuses } };
  const since = editing(all, 'pod', (one, rawObservation) =>
    rawObservation.at > at + 400 ? { ...one, status: { ...one.status, containerStatuses } } : one,
  );
  return adding(since, changed(at + 400, 'pod', printed));
};

/** From 1.5 s after the deletion on, everything arrives 9 s later. */
export const hangsFor9s = arriving((one, { at }) => (one.at > at + 1500 ? one.at + 9000 : one.at));

/** `done` exits 3 s before the deletion. */
export const doneExitsBefore: Edit = (all) => {
  const finishedAt = stampOf(deletionIn(all).at - 3000);
  return eachStatus(({ name, state }) => {
    if (name === 'done' && state['terminated']) state['terminated'] = { ...state['terminated'], finishedAt };
  })(all);
};

/** The sidecar exits this many seconds after the main container. */
export const endingAfter = (seconds: number): Edit =>
  each('pod', (one) => {
    const [main, sidecar] = ['containerStatuses', 'initContainerStatuses'].map((list) => {
      const statuses = one.status[list] as { state: { terminated?: { finishedAt: string } } }[] | undefined;
      return statuses?.[0]?.state.terminated;
    });
    if (main && sidecar) sidecar.finishedAt = stampOf(Date.parse(main.finishedAt) + seconds * 1000);
    return one;
  });
