/** Container exits: before the deletion, next to other exits, after a forced DELETE, or because of a probe. */
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

/** In the first list the container has exited with 1, this many ms before the deletion. Then it runs again. */
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
    sentence: 'an earlier crash is not the exit of a restarted container that a forced DELETE leaves running',
    of: 'force-delete',
    edit: [crashedBefore(5000)],
    expect: { outcome: 'forced', containers: { app: { outcome: 'abandoned' } } },
  },
  {
    sentence: 'an earlier crash is not the exit of a restarted container that still runs when podexit is interrupted',
    of: 'graceful-exit',
    edit: [crashedBefore(30_000), only((one, { at }) => one.at < at + 1000)],
    expect: { containers: { app: { outcome: 'unknown' } } },
  },
  { sentence: 'a crashed container that does not restart counts as not running', of: crashed(), expect: notRunning },
  {
    sentence: 'an earlier crash is not the exit of a container that restarts just before a forced DELETE',
    of: crashed(),
    edit: [only((one) => one.kind !== 'log-ended'), started(60)],
    expect: { outcome: 'forced', exitCode: 2, containers: { app: { outcome: 'abandoned', exit: false } } },
  },
  {
    sentence: 'the outcome is unknown when a container restarts just before a forced DELETE and its log then ends',
    of: crashed(),
    edit: [started(60)],
    expect: { outcome: 'unknown' },
  },
];

/** `web` drains for 20 s, `worker` exits at once, and another DELETE forces the deletion at 8 s. */
const forced: Partial<Story> = {
  containers: [plainContainer({ name: 'web', app: drains(20_000) }), plainContainer({ name: 'worker', app: dies })],
  ...pod({ graceSeconds: 30 }),
  later: [{ kind: 'delete', atMs: 8000, graceSeconds: 0 }],
};
const webAlone = {
  outcome: 'forced',
  containers: { web: { outcome: 'abandoned' }, worker: { outcome: 'unknown' } },
  says: { 'force-deleted': /web kept running/ },
  noMessage: /worker/,
} as const;

const byForce: Case[] = [
  {
    sentence: 'a forced DELETE does not leave a container running whose log ended long before',
    of: forced,
    expect: webAlone,
  },
  {
    sentence: 'an attached run does not report a container as left running whose log ended long before',
    of: forced,
    edit: [attach],
    expect: webAlone,
  },
  {
    sentence: 'a pod whose only log ended long before gives no force-deleted finding',
    of: {
      ...forced,
      containers: [plainContainer({ name: 'worker', app: dies })],
      ...kubelet({ sandboxMs: [20_000, 20_000] }),
    },
    expect: { containers: { worker: { outcome: 'unknown' } }, without: ['force-deleted'] },
  },
  {
    sentence: 'a container whose log stream broke counts as abandoned, but not as certainly running',
    of: forced,
    edit: [
      (all) => {
        const { at } = deletionIn(all);
        const isIts = (one: RawObservation) =>
          one.kind === 'log-ended' && one.container === 'worker' && one.at < at + 8000;
        return all.map((one) => (isIts(one) ? { ...one, clean: false } : one));
      },
    ],
    expect: { containers: { worker: { outcome: 'abandoned' } }, noMessage: /worker kept running/ },
  },
  {
    sentence: 'a sidecar that keeps running is enough for a forced outcome',
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
    sentence: 'a forced DELETE does not leave a container behind that still waits to start',
    of: { ...alone({ state: { kind: 'waiting', reason: 'ContainerCreating' } }), ...asked(0) },
    expect: { outcome: 'removed' },
  },
  {
    sentence: 'a Started Event alone shows that a forced DELETE leaves a container behind',
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
/** A status update 0.4 s after the deletion already reports the container's exit. */
const exitReportedEarly: Edit = (all) => {
  const { at, pod: object } = deletionIn(all);
  const { containerStatuses } = changesOf(all, 'pod').at(-1)?.object.status ?? {};
  const { resourceVersion: _later, ...metadata } = object.metadata;
  const printed = { ...object, metadata, status: { ...object.status, containerStatuses } };
  const since = editing(all, 'pod', (one, rawObservation) =>
    rawObservation.at > at + 400 ? { ...one, status: { ...one.status, containerStatuses } } : one,
  );
  return adding(since, changed(at + 400, 'pod', printed));
};
/** `done` exits 3 s before the deletion; then the runtime hangs for 9 s. */
const doneExitsEarlier: Edit[] = [
  arriving((one, { at }) => (one.at > at + 1500 ? one.at + 9000 : one.at)),
  (all) => {
    // The deletion itself is not delayed.
    const finishedAt = stampOf(deletionIn(all).at - 3000);
    return eachStatus(({ name, state }) => {
      if (name === 'done' && state['terminated']) state['terminated'] = { ...state['terminated'], finishedAt };
    })(all);
  },
];

const beside: Case[] = [
  {
    sentence: 'a hook that reports nothing leaves the result unknown when there are no Events',
    of: alone(silent),
    edit: [withoutStreams('events')],
    expect: { exitCode: 4 },
  },
  {
    sentence: 'doubt about one container’s grace period does not hide that another one was killed',
    of: { containers: [silent, plainContainer({ app: ignoresSignal })] },
    edit: [withoutStreams('events')],
    expect: { outcome: 'killed', exitCode: 2 },
  },
  // The sleep ends at the end of the second that finishedAt names.
  ...[0, 1].map((code): Case => ({
    sentence: `a container that exits by itself during its sleep hook gets no stop signal (exit code ${code})`,
    of: {
      ...alone({ preStop: { kind: 'sleep', seconds: 4 }, app: ownEnd(3400, code, drains(500)), logged: false }),
      trigger: { kind: 'this-command', atMs: 1560, graceSeconds: null, uid: false },
    },
    expect: { containers: { app: { exit: true, stopSignal: false } }, marks: { 'stop-signal': false } },
  })),
  {
    sentence: 'a container that exits just after its sleep hook got its stop signal',
    of: alone({ preStop: { kind: 'sleep', seconds: 4 }, app: drains(1200), logged: false }),
    expect: { containers: { app: { stopSignal: true } } },
  },
  {
    sentence: 'a container that exits before the kubelet reacts runs no hook and gets no signal',
    of: {
      ...alone({ preStop: { kind: 'exec', takesMs: 1000, fails: false }, app: ownEnd(100, 1), logged: false }),
      ...kubelet({ noticeMs: [1500, 1500] }),
    },
    edit: [exitReportedEarly],
    expect: { containers: { app: { outcome: 'failed', code: 1, preStop: false, stopSignal: false } } },
  },
  {
    sentence: 'a container that exits seconds before the DELETE gets no signal, even if the runtime then hangs',
    of: {
      containers: [
        plainContainer({ name: 'done', app: drains(500), logged: false }),
        plainContainer({ app: drains(2000, 143) }),
      ],
    },
    edit: doneExitsEarlier,
    expect: {
      containers: { app: { stopSignal: true }, done: { outcome: 'completed', code: 0, stopSignal: false } },
    },
  },
  {
    sentence: 'exit-nonzero says that a child process was OOMKilled',
    of: alone({ app: { ...drains(500), onSignal: { kind: 'child-oom', afterMs: 500, code: 1 } } }),
    expect: {
      says: {
        'exit-nonzero': /exited with code 1 .*\(OOMKilled: one of its processes ran out of memory\)\n.*memory limit/,
      },
    },
  },
];

/** The sidecar's status shows this many restarts. */
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
/** The sidecar exits this many seconds after the main container. */
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
    sentence: 'gets its signal at the end of the grace period even if the main container still runs',
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
    sentence: 'with earlier restarts counts as exited by itself if its exit may be before its turn',
    of: crashing,
    edit: [restarts(3)],
    expect: { containers: { proxy: { outcome: 'completed', stopSignal: false } } },
  },
  {
    sentence: 'without restarts counts as stopped by its signal',
    of: crashing,
    edit: [restarts(0)],
    expect: { containers: { proxy: { stopSignal: true } } },
  },
  ...[134, 139, 141, 143].flatMap((code) =>
    [1500, 3050].map((atMs): Case => ({
      sentence: `that exits by itself with ${code} after ${atMs} ms proves nothing about the main container`,
      of: besideMain(3000, { ownExit: { atMs, code } }),
      expect: { truth: true },
    })),
  ),
  {
    sentence: 'that exits with 139 gets no stop signal: 139 is another signal',
    of: besideMain(3000, { ownExit: { atMs: 1500, code: 139 } }),
    expect: { containers: { proxy: { outcome: 'failed', code: 139, stopSignal: false } }, findings: ['exit-nonzero'] },
  },
  {
    sentence: 'that exits with 143 after its turn was ended by the stop signal',
    of: besideMain(3000, { onSignal: { kind: 'exits', afterMs: 2100, code: 143 } }),
    expect: { truth: true, containers: { proxy: { outcome: 'signalled', stopSignal: true } } },
  },
  ...[400, 3000].flatMap((drain) =>
    [false, true].map((logged): Case => ({
      sentence: `that copies the application’s log shows no signal of its own (${drain} ms, app logged: ${logged})`,
      of: {
        ...besideMain(drain, { bootLine: 'tail', lines: [{ atMs: 160, text: 'SIGTERM received, draining' }] }, logged),
        trigger: { kind: 'this-command', atMs: 1640, graceSeconds: null, uid: false },
      },
      expect: { truth: true, neverWithdraws: true },
    })),
  ),
  ...[0, 500, 900].map((ms): Case => ({
    sentence: `that exits in an earlier second than the main container gets no signal (updates ${ms} ms late)`,
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
    sentence: `that exits ${seconds} s after the main container got its signal`,
    of: besideMain(3000, {}),
    edit: [endingAfter(seconds)],
    expect: { containers: { proxy: { stopSignal: true } } },
  })),
];

/** The container starts at this time. Its running state shows a start `earlierMs` before that. */
const runOf =
  (startedAt: (at: number) => number, earlierMs?: number): Edit =>
  (all) => {
    const since = startedAt(deletionIn(all).at);
    return eachStatus(({ state }) => {
      const { running, terminated } = state as Record<string, { startedAt?: string } | undefined>;
      if (running) running.startedAt = stampOf(since - (earlierMs ?? 0));
      if (terminated) terminated.startedAt = stampOf(since);
    })(all);
  };
const inItsSecond = (at: number): number => Math.floor((at - 2500) / 1000) * 1000;

const probed: Case[] = [
  {
    // The first status belongs to the previous run of the container, the last one to its current run.
    sentence: 'a probe that killed the previous run of a container leaves no doubt about what ended the current one',
    of: { ...alone({ app: ignoresSignal, logged: false }), ...pod({ graceSeconds: 2 }) },
    edit: [
      runOf((at) => at - 1500, 60_000),
      event('Killing', 'Container app failed startup probe, will be restarted', -5500),
    ],
    expect: { outcome: 'killed', containers: { app: { outcome: 'killed' } } },
  },
  ...['FailedPostStartHook', 'Container app failed liveness probe, will be restarted'].map((message): Case => ({
    sentence: `"${message}" in the second of the container’s start leaves the outcome unknown`,
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
    sentence: 'a hook that fails just before the grace period ends was certainly not cut off',
    of: {
      ...alone({ preStop: { kind: 'exec', takesMs: 2750, fails: true }, app: dies, logged: false }),
      ...pod({ graceSeconds: 3 }),
    },
    expect: { outcome: 'graceful', exitCode: 0 },
  },
  {
    sentence: 'log lines about SIGTERM show no stop signal while the hook’s sleep command still runs',
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
    sentence: 'after a kubelet restart the hook may run until the restarted grace period ends',
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
];

export const ends = {
  'an exit before the deletion': before,
  'a forced DELETE': byForce,
  'containers, hooks and child processes': beside,
  'a sidecar': sidecars,
  'probes and hooks': probed,
};
