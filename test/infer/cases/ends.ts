/** Exits of containers: before the deletion, together with another one, by force, or because of a probe. */
import { expect } from 'vitest';
import { drains, plainContainer } from '../../sim/plain-story.ts';
import type { AppStory, Story } from '../../sim/story.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import {
  adding,
  alone,
  changed,
  changesOf,
  containerOf,
  ignoresSignal,
  editing,
  markedIn,
  stampOf,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { podBefore, statusesIn } from '../../helpers/raw-edits.ts';
import { asked, dies, kubelet, pod } from '../../helpers/story-changes.ts';
import type { Case, Edit } from './case.ts';
import {
  aboutPod,
  also,
  arriving,
  attach,
  deletionIn,
  each,
  eachStatus,
  event,
  only,
  withoutStreams,
} from './edits.ts';

/** The pod in the list had exited with 1 this many ms before the deletion, and had been running before. */
const crashedBefore =
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
const crashed = (graceSeconds: number | null = 0): Partial<Story> => ({
  ...alone({ state: { kind: 'crashed', code: 1 } }),
  ...asked(graceSeconds),
});
const started = (ms: number) => event('Started', 'Started container app', -ms);
const notRunning = { outcome: 'removed', containers: { app: { outcome: 'not-running' } } } as const;

const before: Case[] = [
  {
    sentence: 'is not the end of a pod that ran again and was removed by force',
    of: 'force-delete',
    edit: [crashedBefore(5000)],
    expect: { outcome: 'forced', containers: { app: { outcome: 'abandoned' } } },
  },
  {
    sentence: 'is not the end of a pod that still runs when the run is left',
    of: 'graceful-exit',
    edit: [crashedBefore(30_000), only((one, { at }) => one.at < at + 1000)],
    expect: { containers: { app: { outcome: 'unknown' } } },
  },
  { sentence: 'is one where nothing was started again', of: crashed(), expect: notRunning },
  {
    sentence: 'is not the end of what was started again just before a forced DELETE',
    of: crashed(),
    edit: [only((one) => one.kind !== 'log-ended'), started(60)],
    expect: { outcome: 'forced', exitCode: 2, containers: { app: { outcome: 'abandoned', exit: false } } },
  },
  {
    sentence: 'may be that of the new run, where a log ended after that start',
    of: crashed(),
    edit: [started(60)],
    expect: { outcome: 'unknown' },
  },
];

/** `web` drains for 20 s, `worker` dies at once, and somebody forces the deletion at 8 s. */
const forced: Partial<Story> = {
  containers: [plainContainer({ name: 'web', app: drains(20_000) }), plainContainer({ name: 'worker', app: dies })],
  ...pod({ graceSeconds: 30 }),
  later: [{ kind: 'delete', atMs: 8000, graceSeconds: 0 }],
};
const webAlone = {
  outcome: 'forced',
  containers: { web: { outcome: 'abandoned' }, worker: { outcome: 'unknown' } },
  says: { 'force-deleted': /web kept running/ },
  unsaid: /worker/,
} as const;

const byForce: Case[] = [
  { sentence: 'a container whose log ended long before was not left running', of: forced, expect: webAlone },
  { sentence: 'nor was it where the deletion is only watched', of: forced, edit: [attach], expect: webAlone },
  {
    sentence: 'a container whose log ended long before makes no forced exit where it was the only one',
    of: {
      ...forced,
      containers: [plainContainer({ name: 'worker', app: dies })],
      ...kubelet({ sandboxMs: [20_000, 20_000] }),
    },
    expect: { containers: { worker: { outcome: 'unknown' } }, without: ['force-deleted'] },
  },
  {
    sentence: 'a container whose log broke may have been left',
    of: forced,
    edit: [
      (all) => {
        const { at } = deletionIn(all);
        const isIts = (one: RawObservation) =>
          one.kind === 'log-ended' && one.container === 'worker' && one.at < at + 8000;
        return all.map((one) => (isIts(one) ? { ...one, clean: false } : one));
      },
    ],
    expect: { containers: { worker: { outcome: 'abandoned' } }, unsaid: /worker kept running/ },
  },
  {
    sentence: 'a sidecar alone may be left behind',
    of: {
      containers: [
        plainContainer({ state: { kind: 'crashed', code: 1 } }),
        plainContainer({ name: 'proxy', kind: 'sidecar', app: drains(20_000) }),
      ],
      ...asked(0),
    },
    expect: { outcome: 'forced', exitCode: 2, findings: ['force-deleted'] },
  },
  {
    sentence: 'what waits to be started is not left behind',
    of: { ...alone({ state: { kind: 'waiting', reason: 'ContainerCreating' } }), ...asked(0) },
    expect: { outcome: 'removed' },
  },
  {
    sentence: 'a container may be left behind of which only an Event tells that it was started',
    of: { ...alone({ state: { kind: 'waiting', reason: 'ContainerCreating' } }), ...asked(0) },
    edit: [started(500)],
    expect: { outcome: 'forced', exitCode: 2 },
  },
];

const silent = plainContainer({
  name: 'silent',
  preStop: { kind: 'exec', takesMs: null, fails: false },
  app: drains(500),
  logged: false,
});
const ownEnd = (atMs: number, code: number, app: AppStory = dies): AppStory => ({ ...app, ownExit: { atMs, code } });
/** A state 0.4 s after the deletion already reports the container's exit. */
const endToldEarly: Edit = (all) => {
  const { at, pod: object } = deletionIn(all);
  const { containerStatuses } = changesOf(all, 'pod').at(-1)?.object.status ?? {};
  const { resourceVersion: _later, ...metadata } = object.metadata;
  const printed = { ...object, metadata, status: { ...object.status, containerStatuses } };
  const since = editing(all, 'pod', (one, rawObservation) =>
    rawObservation.at > at + 400 ? { ...one, status: { ...one.status, containerStatuses } } : one,
  );
  return adding(since, changed(at + 400, 'pod', printed));
};
/** `done` had ended 3 s before the deletion; then the runtime hung for 9 s. */
const doneBefore: Edit[] = [
  arriving((one, { at }) => (one.at > at + 1500 ? one.at + 9000 : one.at)),
  (all) => {
    // As it was marked when it arrived in time.
    const finishedAt = stampOf(deletionIn(all).at - 3000);
    return eachStatus(({ name, state }) => {
      if (name === 'done' && state['terminated']) state['terminated'] = { ...state['terminated'], finishedAt };
    })(all);
  },
];

const beside: Case[] = [
  {
    sentence: 'a silent hook leaves its own container’s outcome open',
    of: alone(silent),
    edit: [withoutStreams('events')],
    expect: { exitCode: 4 },
  },
  {
    sentence: 'a doubt about one container’s grace changes nothing of what is certain of another',
    of: { containers: [silent, plainContainer({ app: ignoresSignal })] },
    edit: [withoutStreams('events')],
    expect: { outcome: 'killed', exitCode: 2 },
  },
  // The sleep ends at the end of the second of which finishedAt is.
  ...[0, 1].map((code): Case => ({
    sentence: `a container that ended by itself while its sleep went on was sent no stop signal (exit code ${code})`,
    of: {
      ...alone({ preStop: { kind: 'sleep', seconds: 4 }, app: ownEnd(3400, code, drains(500)), logged: false }),
      trigger: { kind: 'this-command', atMs: 1560, graceSeconds: null, uid: false },
    },
    expect: { containers: { app: { exit: true, stopSignal: false } }, marks: { 'stop-signal': false } },
  })),
  {
    sentence: 'a container is taken to have obeyed where it ended just after its sleep',
    of: alone({ preStop: { kind: 'sleep', seconds: 4 }, app: drains(1200), logged: false }),
    expect: { containers: { app: { stopSignal: true } } },
  },
  {
    sentence: 'a container that had ended before its kubelet knew of the deletion ran no hook',
    of: {
      ...alone({ preStop: { kind: 'exec', takesMs: 1000, fails: false }, app: ownEnd(100, 1), logged: false }),
      ...kubelet({ noticeMs: [1500, 1500] }),
    },
    edit: [endToldEarly],
    expect: { containers: { app: { outcome: 'failed', code: 1, preStop: false, stopSignal: false } } },
  },
  {
    sentence:
      'a container that ended seconds before the DELETE was sent no signal, also where the runtime then stood still',
    of: {
      containers: [
        plainContainer({ name: 'done', app: drains(500), logged: false }),
        plainContainer({ app: drains(2000, 143) }),
      ],
    },
    edit: doneBefore,
    expect: {
      gaps: ['clock-doubtful'],
      containers: { app: { stopSignal: true }, done: { outcome: 'completed', code: 0, stopSignal: false } },
    },
  },
  {
    sentence: 'a process killed for memory beside the one that ended is named where the container failed',
    of: alone({ app: { ...drains(500), onSignal: { kind: 'child-oom', afterMs: 500, code: 1 } } }),
    expect: {
      says: {
        'exit-nonzero': /exited with code 1 .*\(OOMKilled: one of its processes ran out of memory\)\n.*memory limit/,
      },
    },
  },
];

/** Its first statuses show this many restarts. */
const restarts = (count: number): Edit =>
  each('pod', (one) => {
    for (const status of (one.status['initContainerStatuses'] ?? []) as Raw[]) status['restartCount'] = count;
    return one;
  });
const crashing: Partial<Story> = {
  containers: [
    plainContainer({ logged: false }),
    plainContainer({ name: 'proxy', kind: 'sidecar', app: ownEnd(900, 0), logged: false }),
  ],
};
const besideMain = (drainMs: number, app: Partial<AppStory>, logged = false): Partial<Story> => ({
  containers: [
    plainContainer({ app: drains(drainMs), logged }),
    plainContainer({
      name: 'proxy',
      kind: 'sidecar',
      app: { ...dies, onSignal: { kind: 'exits', afterMs: 700, code: 0 }, ...app },
    }),
  ],
});
/** The sidecar ends this many seconds after the main container. */
const endingAfter = (seconds: number): Edit =>
  each('pod', (one) => {
    const [main, sidecar] = ['containerStatuses', 'initContainerStatuses'].map((list) => {
      const statuses = one.status[list] as { state: { terminated?: { finishedAt: string } } }[] | undefined;
      return statuses?.[0]?.state.terminated;
    });
    if (main && sidecar) sidecar.finishedAt = stampOf(Date.parse(main.finishedAt) + seconds * 1000);
    return one;
  });

const sidecars: Case[] = [
  {
    sentence: 'has its signal at the end of the grace, also where the main container goes on',
    of: {
      containers: [
        plainContainer({ app: ignoresSignal, logged: false }),
        plainContainer({ name: 'proxy', kind: 'sidecar', app: drains(300), logged: false }),
      ],
      ...pod({ graceSeconds: 2 }),
    },
    expect: { containers: { proxy: { stopSignal: true } } },
  },
  {
    sentence: 'that has ended by itself before may have done so again, where its exit may be before its turn',
    of: crashing,
    edit: [restarts(3)],
    expect: { containers: { proxy: { outcome: 'completed', stopSignal: false } } },
  },
  {
    sentence: 'that never did is the less likely to have',
    of: crashing,
    edit: [restarts(0)],
    expect: { containers: { proxy: { stopSignal: true } } },
  },
  ...[134, 139, 141, 143].flatMap((code) =>
    [1500, 3050].map((atMs): Case => ({
      sentence: `that dies by itself of ${code} after ${atMs} ms proves nothing of the main container`,
      of: besideMain(3000, { ownExit: { atMs, code } }),
      expect: { truth: true },
    })),
  ),
  {
    sentence: 'of a signal that is no stop signal was not stopped by it',
    of: besideMain(3000, { ownExit: { atMs: 1500, code: 139 } }),
    expect: { containers: { proxy: { outcome: 'failed', code: 139, stopSignal: false } }, findings: ['exit-nonzero'] },
  },
  {
    sentence: 'of the stop signal, once it had its turn, did end by it',
    of: besideMain(3000, { onSignal: { kind: 'exits', afterMs: 2100, code: 143 } }),
    expect: { truth: true, containers: { proxy: { outcome: 'signalled', stopSignal: true } } },
  },
  ...[400, 3000].flatMap((drain) =>
    [false, true].map((logged): Case => ({
      sentence: `that repeats the log of the application does not tell its own signal (${drain} ms, application followed: ${logged})`,
      of: {
        ...besideMain(drain, { bootLine: 'tail', lines: [{ atMs: 160, text: 'SIGTERM received, draining' }] }, logged),
        trigger: { kind: 'this-command', atMs: 1640, graceSeconds: null, uid: false },
      },
      expect: { truth: true, lasts: true },
    })),
  ),
  ...[0, 500, 900].map((ms): Case => ({
    sentence: `whose second was over before that of the main container began got no signal, with news ${ms} ms late`,
    of: besideMain(3000, {}),
    edit: [
      endingAfter(-1),
      arriving((one) => (one.kind === 'changed' ? one.at + ms : one.at)),
      only(({ kind }) => !['line', 'log-opened', 'log-ended'].includes(kind)),
    ],
    expect: {
      containers: { proxy: { stopSignal: false } },
      holds: ({ phases }) => expect(phases.map((one) => `${one.name} ${one.subject}`)).not.toContain('drain proxy'),
    },
  })),
  ...[0, 1].map((seconds): Case => ({
    sentence: `got its signal where it ended ${seconds} s after the main container`,
    of: besideMain(3000, {}),
    edit: [endingAfter(seconds)],
    expect: { containers: { proxy: { stopSignal: true } } },
  })),
];

/** The current run was started this many ms before the deletion, or `former` ms earlier by its running state. */
const runOf =
  (startedAt: (at: number) => number, former?: number): Edit =>
  (all) => {
    const since = startedAt(deletionIn(all).at);
    return eachStatus(({ state }) => {
      const { running, terminated } = state as Record<string, { startedAt?: string } | undefined>;
      if (running) running.startedAt = stampOf(since - (former ?? 0));
      if (terminated) terminated.startedAt = stampOf(since);
    })(all);
  };
const inItsSecond = (at: number): number => Math.floor((at - 2500) / 1000) * 1000;
const mirrored = each('pod', (one) => {
  const annotations = { 'kubernetes.io/config.mirror': 'a1b2', 'kubernetes.io/config.hash': 'a1b2' };
  return { ...one, metadata: { ...one.metadata, annotations } };
});

const probed: Case[] = [
  {
    // The status of the first state is of the run before; that of the end tells of the last one.
    sentence: 'a probe that had the run before killed leaves no doubt about what ended the run that the deletion found',
    of: { ...alone({ app: ignoresSignal, logged: false }), ...pod({ graceSeconds: 2 }) },
    edit: [
      runOf((at) => at - 1500, 60_000),
      event('Killing', 'Container app failed startup probe, will be restarted', -5500),
    ],
    expect: { outcome: 'killed', containers: { app: { outcome: 'killed' } } },
  },
  ...['FailedPostStartHook', 'Container app failed liveness probe, will be restarted'].map((message): Case => ({
    sentence: `"${message}" in the second in which the run started: what ended that is unknown`,
    of: {
      ...alone({ app: { ...dies, onSignal: { kind: 'exits', afterMs: 300, code: 137 } }, logged: false }),
      ...pod({ graceSeconds: 6 }),
    },
    edit: [
      runOf(inItsSecond),
      also((deletion) => {
        const ms = inItsSecond(deletion.at) + 400 - deletion.at;
        return changed(deletion.at + ms + 10, 'events', aboutPod('Killing', message, ms)(deletion), 'ADDED');
      }),
    ],
    expect: { containers: { app: { outcome: 'unknown' } } },
  })),
  {
    sentence: 'a hook that failed just before the grace ended left no doubt that it was not cut off',
    of: {
      ...alone({ preStop: { kind: 'exec', takesMs: 2750, fails: true }, app: dies, logged: false }),
      ...pod({ graceSeconds: 3 }),
    },
    expect: { outcome: 'graceful', exitCode: 0 },
  },
  {
    sentence: 'an application that always writes of signals proves none by it while its hook can only sleep',
    of: alone({
      preStop: { kind: 'exec', takesMs: 3000, fails: false },
      app: {
        ...dies,
        lines: Array.from({ length: 30 }, (_, n) => ({ atMs: n * 300, text: `got SIGTERM? not yet ${n}` })),
      },
    }),
    edit: [
      each('pod', (one) => {
        const [app] = one.spec['containers'] as { lifecycle?: unknown }[];
        if (app) app.lifecycle = { preStop: { exec: { command: ['sleep', '3'] } } };
        return one;
      }),
    ],
    expect: {
      holds: ({ marks, containers: [app] }) => {
        const began = Date.parse(marks.find(({ name }) => name === 'stopping')?.at.earliest ?? '');
        expect(Date.parse(app?.preStop?.end.latest ?? '') - began).toBeGreaterThanOrEqual(2990);
        expect(Date.parse(app?.stopSignal?.earliest ?? '') - began).toBeGreaterThanOrEqual(2990);
      },
    },
  },
  {
    sentence: 'a kubelet that began anew may have run the hook until the grace ended that it counted anew',
    of: {
      ...alone({ preStop: { kind: 'exec', takesMs: null, fails: false }, app: drains(200), logged: false }),
      ...pod({ graceSeconds: 5 }),
      faults: [{ kind: 'kubelet-restart', atMs: 2600, downMs: 600 }],
    },
    expect: {
      holds: (report) => {
        const began = report.marks.find(({ name }) => name === 'stopping')?.at.earliest ?? '';
        expect(Date.parse(containerOf(report).preStop?.end.latest ?? '') - Date.parse(began)).toBeGreaterThan(7500);
      },
    },
  },
  ...[[1, 'failed'] as const, [0, 'graceful'] as const].map(([exitCode, outcome]): Case => ({
    sentence: `a static pod whose manifest was taken away exited with ${exitCode} before its copy was removed`,
    of: { ...alone({ logged: false }), trigger: { kind: 'unknown', atMs: 3000, graceSeconds: 0 } },
    edit: [
      attach,
      withoutStreams('events'),
      mirrored,
      (all) => {
        const { at } = markedIn(all);
        const terminated = { exitCode, finishedAt: stampOf(at - 1000), startedAt: stampOf(at - 60_000) };
        return editing(all, 'pod', (one, rawObservation) => {
          if (rawObservation.at >= at) for (const status of statusesIn(one)) status.state = { terminated };
          return one;
        });
      },
      event('Killing', 'Stopping container app', -1200, { uid: 'a1b2' }),
    ],
    expect: { outcome, without: ['force-deleted'] },
  })),
];

export const ends = {
  'an end before the deletion': before,
  'a forced DELETE': byForce,
  'an end beside another': beside,
  'a sidecar': sidecars,
  'what had begun before the deletion': probed,
};
