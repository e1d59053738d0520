/** What the kubelet does, and what it starts by itself before the deletion. */
import { expect } from 'vitest';
import { drains, plainContainer, plainStory } from '../../sim/plain-story.ts';
import type { ContainerStory, Story } from '../../sim/story.ts';
import {
  adding,
  alone,
  changed,
  changesOf,
  containerOf,
  ignoresSignal,
  editing,
  listed,
  markOf,
  stampOf,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { retimed, statusesIn } from '../../helpers/raw-edits.ts';
import { asked, dies } from '../../helpers/story-changes.ts';
import type { Case, Edit, Expectation } from './case.ts';
import {
  aboutPod,
  also,
  arriving,
  attach,
  deletionIn,
  each,
  eachStatus,
  ending,
  event,
  noEvents,
  noLogs,
  only,
  withoutReasons,
} from './edits.ts';

const probe = 'Container app failed liveness probe, will be restarted';

/** Half an hour before the deletion. `at`, and the result: ms. */
const probeKilledAt = (at: number): number => Math.floor((at - 1_800_000) / 1000) * 1000 + 200;

/** `change` changes every Event with this reason. */
const eachEvent =
  (reason: string, change: (event: Raw, at: number) => Raw): Edit =>
  (all) =>
    each('events', (one) => (one['reason'] === reason ? change(one, deletionIn(all).at) : one))(all);

const killFailed = (why: string): string =>
  `error killing pod: failed to "KillContainer" for "app" with KillContainerError: "rpc error: code = Unknown desc = ${why}"`;
const networkNotRemoved =
  'error killing pod: failed to "KillPodSandbox" for "uid" with KillPodSandboxError: "rpc error: code = Unknown desc = failed to destroy network for sandbox"';

/** The container `legacy` was added for debugging. */
const debugging = each('pod', (object) => {
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

const did: Case[] = [
  {
    sentence: 'a container that outlives the time of its kill shows that the runtime sent the signal late',
    of: {
      ...alone({ app: drains(1900), logged: false }),
      ...asked(1),
      runtime: { ...plainStory().runtime, signalLagMs: [3000, 3000] },
    },
    expect: {
      containers: { app: { code: 0, stopSignal: { until: 3 } } },
      sentence: /app exited within \d\.\ds of SIGTERM$/,
    },
  },
  {
    sentence: 'a runtime that was late for one container may have been late for all of the pod',
    of: {
      containers: [
        plainContainer({ name: 'slow', app: drains(1900), logged: false }),
        plainContainer({ name: 'quick', app: drains(300), logged: false }),
      ],
      ...asked(1),
      runtime: { ...plainStory().runtime, signalLagMs: [3000, 3000] },
    },
    expect: { containers: { quick: { code: 0, stopSignal: { until: 3 } } } },
  },
  {
    sentence: 'a FailedPreStopHook Event gives a prestop-failed finding',
    of: 'prestop-fails',
    expect: { findings: ['prestop-failed'] },
  },
  {
    sentence: 'a hook that fails after its container exits is not reported as failed',
    of: 'prestop-fails',
    edit: [
      ending(({ at }) => ({ finishedAt: stampOf(at) })),
      noLogs,
      eachEvent('FailedPreStopHook', (one, at) => retimed(one, at + 1200)),
      arriving((one, { at }) =>
        one.kind === 'changed' && (one.object as Raw)['reason'] === 'FailedPreStopHook' ? at + 1203 : one.at,
      ),
    ],
    expect: { containers: { app: { preStop: 'unknown' } }, without: ['prestop-failed'] },
  },
  {
    sentence: 'an exit in the second in which the hook fails may come during the hook or after it',
    of: 'prestop-fails',
    edit: [ending(({ at }) => ({ finishedAt: stampOf(at + 100) })), noLogs],
    expect: { containers: { app: { stopSignal: false } }, sentence: /app exited 0 during or after its preStop hook/ },
  },
  {
    sentence: 'a FailedKillPod about when the container exits does not show that the runtime is unavailable',
    of: 'graceful-exit',
    edit: [event('FailedKillPod', killFailed('ttrpc: closed'), 3000, { container: '' })],
    expect: { outcome: 'graceful', without: ['runtime-unavailable'] },
  },
  {
    sentence: 'a FailedKillPod long before the pod ends shows that the runtime is unavailable',
    of: 'finalizer',
    edit: [event('FailedKillPod', killFailed('connection refused'), 100, { container: '' })],
    expect: { findings: ['runtime-unavailable'] },
  },
  {
    sentence: 'a kill is not overdue before the grace period ends that a restarted kubelet has begun again',
    of: { ...alone({ app: ignoresSignal }), faults: [{ kind: 'kubelet-restart', atMs: 2000, downMs: 8000 }] },
    edit: [
      only(({ at }, deletion) => at < deletion.at + 17_000),
      also(({ at }) => ({ at: at + 17_000, kind: 'timer', name: 'timeout' })),
    ],
    expect: {
      findings: ['kubelet-restarted'],
      holds: ({ marks }) => expect(marks.filter(({ note = '' }) => note.includes('overdue'))).toEqual([]),
    },
  },
  {
    sentence: 'an error that a network plugin can cause does not show that the runtime did not answer',
    of: 'finalizer',
    edit: [event('FailedKillPod', networkNotRemoved, 100, { container: '' })],
    expect: { says: { 'runtime-unavailable': /: the container runtime reported an error\n/ } },
  },
  {
    sentence: 'a repeated Killing without its first Event counts from its first time, with a wider signal interval',
    of: 'exit-143',
    edit: [eachEvent('Killing', (one) => ({ ...one, count: 2 }))],
    expect: {
      holds: (report, _, untouched) => {
        const [first, known] = [report, untouched()].map((one) => markOf(one, 'stopping/app').at);
        const [signal, before] = [report, untouched()].map((one) => containerOf(one).stopSignal);
        expect(first?.earliest).toBe(known?.earliest);
        expect(Date.parse(first?.latest ?? '')).toBeLessThan(Date.parse(known?.latest ?? '') + 50);
        expect((signal?.earliest ?? '~') <= (known?.earliest ?? '')).toBe(true);
        expect((signal?.latest ?? '') >= (before?.latest ?? '~')).toBe(true);
      },
    },
  },
  {
    sentence: 'a container that exits before the deletion is accepted counts as not running',
    of: 'graceful-exit',
    edit: [
      ending(({ at }) => ({ exitCode: 1, reason: 'Error', finishedAt: stampOf(at - 8000) })),
      noLogs,
      withoutReasons('Killing'),
    ],
    expect: {
      outcome: 'removed',
      holds: (report) =>
        expect(containerOf(report)).toEqual({ name: 'app', kind: 'container', outcome: 'not-running' }),
    },
  },
  {
    sentence: '137 is unknown if a liveness probe’s kill was already in progress',
    of: 'sigkill-after-grace',
    edit: [eachEvent('Killing', (one, at) => retimed({ ...one, message: probe }, at - 500))],
    expect: { containers: { app: { outcome: 'unknown' } }, without: ['exit-nonzero', 'killed-at-grace'] },
  },
  {
    sentence: 'an exit by the configured stop signal is signalled, even if that is a real-time signal',
    of: 'exit-143',
    edit: [ending({ exitCode: 165 }), eachStatus((status) => (status['stopSignal'] = 'SIGRTMIN+3'))],
    expect: { report: { containers: [{ outcome: 'signalled', stopSignal: { signal: 'SIGRTMIN+3' } }] } },
  },
  {
    sentence: 'an exit by a real-time signal that is not the stop signal is a failure',
    of: 'exit-143',
    edit: [ending({ exitCode: 165 })],
    expect: { containers: { app: { outcome: 'failed' } } },
  },
  {
    sentence: 'a killed debug container held the pod, but is no failure of the application',
    of: 'multi-container',
    edit: [debugging],
    expect: {
      outcome: 'graceful',
      says: { 'sidecar-killed': /debug container/ },
      without: ['killed-at-grace', 'no-signal-handling'],
    },
  },
  {
    sentence: 'exit-nonzero says that 137 right after the signal may come from STOPSIGNAL SIGKILL',
    of: alone({ app: { ...dies, onSignal: { kind: 'exits', afterMs: 2, code: 137 } } }),
    expect: { says: { 'exit-nonzero': /STOPSIGNAL/ } },
  },
];

interface Stop {
  /** When the kubelet started, ms before the deletion. */
  lead: number;
  /** How long the container then lived, ms. */
  ran: number;
  code: number;
  message?: string;
  reason?: string;
}

/** The kubelet kills the container by itself. Of its Events only the Killing arrives. */
const stoppedBefore = ({ lead, ran, code, message = 'Stopping container app', reason }: Stop): Edit[] => [
  noEvents,
  ending(({ at }) => ({ exitCode: code, finishedAt: stampOf(at - lead + ran) })),
  each('pod', (one) =>
    ['Failed', 'Succeeded'].includes(String(one.status['phase']))
      ? { ...one, status: { ...one.status, phase: 'Failed', reason } }
      : one,
  ),
  only((one) => one.kind !== 'line'),
  event('Killing', message, -lead),
];

/** Runs the case for our own deletion, and for an attached run. */
const bothWays = (sentence: string, of: Case['of'], edit: readonly Edit[], wanted: Expectation): Case[] => [
  { sentence, of, edit, expect: wanted },
  { sentence: `${sentence} (attached)`, of, edit: [...edit, attach], expect: wanted },
];

const stoppedEarlier: Case[] = [
  ...[
    ['a node shutdown', { lead: 3000, ran: 6015, code: 137, reason: 'Terminated' }] as const,
    ['a node shutdown just before the deletion', { lead: 200, ran: 6015, code: 137, reason: 'Terminated' }] as const,
    ['a liveness probe', { lead: 3000, ran: 5015, code: 137, message: probe }] as const,
  ].flatMap(([why, stop]) =>
    bothWays(
      `a kill by ${why} is unknown if it comes when the deletion’s grace period may have ended`,
      alone({ app: ignoresSignal }),
      stoppedBefore(stop),
      {
        containers: { app: { outcome: 'unknown', stopSignal: false, kill: false } },
        without: ['exit-nonzero', 'killed-at-grace'],
      },
    ),
  ),
  ...[
    ['an eviction', { lead: 1000, ran: 2500, code: 143, reason: 'Evicted' }] as const,
    ['a deadline', { lead: 800, ran: 2500, code: 143, reason: 'DeadlineExceeded' }] as const,
    ['a liveness probe', { lead: 1000, ran: 2500, code: 143, message: probe }] as const,
  ].flatMap(([why, stop]) =>
    [{}, { preStop: { kind: 'sleep', seconds: 2 } } satisfies Partial<ContainerStory>].map((hook, index): Case => ({
      sentence: `a container got its signal${index > 0 ? ' and its hook' : ''} before the deletion from ${why}`,
      of: alone(hook),
      edit: [...stoppedBefore(stop), ...(index > 0 ? [attach] : [])],
      expect: { containers: { app: { outcome: 'signalled', code: 143, stopSignal: false, preStop: false } } },
    })),
  ),
  {
    sentence: 'a probe that killed an earlier run shows nothing about the current one',
    of: {},
    edit: [
      also((deletion) =>
        changed(deletion.at - 100, 'events', aboutPod('Killing', probe, -3_000_000)(deletion), 'ADDED'),
      ),
    ],
    expect: {
      holds: (report, _, untouched) => {
        const { earliest, latest } = containerOf(untouched()).stopSignal ?? {};
        expect(containerOf(report).stopSignal).toMatchObject({ earliest, latest });
      },
    },
  },
  {
    sentence: 'a probe’s kill in the second before the container started ended the previous run',
    of: alone({ app: ignoresSignal }),
    edit: [
      (all) => {
        const startedAt = stampOf(probeKilledAt(deletionIn(all).at) + 1200);
        return eachStatus(({ state }) => {
          for (const run of [state['running'], state['terminated']]) if (run) Object.assign(run, { startedAt });
        })(all);
      },
      also((deletion) => {
        const old = aboutPod('Killing', probe, probeKilledAt(deletion.at) - deletion.at, { count: 3 });
        return listed(deletion.at - 1000, 'events', old(deletion));
      }),
    ],
    expect: { outcome: 'killed', containers: { app: { stopSignal: true } } },
  },
  ...[false, true].map((isStartedLater): Case => {
    const secondOf = (at: number) => Math.floor((at - 1500) / 1000) * 1000;
    const eventAt = (reason: string, ms: number, count: number) =>
      also((deletion) => {
        const at = secondOf(deletion.at) + ms;
        return changed(at + 8, 'events', aboutPod(reason, probe, at - deletion.at, { count })(deletion), 'ADDED');
      });
    return {
      sentence: isStartedLater
        ? 'a probe’s kill in the second of the start ended the previous run if Started follows'
        : 'a probe’s kill in the second of the start leaves the outcome unknown',
      of: alone({ app: ignoresSignal }),
      edit: [
        (all) => {
          const startedAt = stampOf(secondOf(deletionIn(all).at));
          return eachStatus(({ state }) => {
            for (const run of [state['running'], state['terminated']]) if (run) Object.assign(run, { startedAt });
          })(all);
        },
        eventAt('Killing', 300, 3),
        ...(isStartedLater ? [eventAt('Started', 600, 3)] : []),
      ],
      expect: { containers: { app: { outcome: isStartedLater ? 'killed' : 'unknown' } } },
    };
  }),
  {
    sentence: 'a hook that failed during a probe’s kill shows nothing about the hook of the deletion',
    of: 'prestop-fails',
    edit: [
      (all) => {
        const stopping = changesOf(all, 'events').find(({ object }) => object['reason'] === 'Killing')?.at ?? NaN;
        const failed = aboutPod('FailedPreStopHook', '', stopping - 8 - deletionIn(all).at, { count: 2 });
        return adding(all, changed(stopping - 4, 'events', failed(deletionIn(all))));
      },
    ],
    expect: {
      holds: (report, _, untouched) => {
        const { earliest, latest } = containerOf(untouched()).preStop?.end ?? {};
        expect(containerOf(report).preStop?.end).toMatchObject({ earliest, latest });
      },
    },
  },
  {
    sentence: 'an Evicted Event after the Killing does not change what stopped the container',
    of: alone({ app: ignoresSignal }),
    edit: [event('Evicted', 'Usage of EmptyDir volume', 3990, { container: undefined })],
    expect: { outcome: 'killed', containers: { app: { stopSignal: true } } },
  },
];

const withSidecar: Partial<Story> = {
  containers: [
    plainContainer({ name: 'work', app: { ...dies, onSignal: { kind: 'exits', afterMs: 300, code: 0 } } }),
    plainContainer({ name: 'proxy', kind: 'sidecar', logged: false }),
  ],
};
/** The main container exits 4 s before the deletion; its Killing is missing. */
const mainOver =
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

const sidecars: Case[] = [
  {
    sentence: 'was already being stopped if its main container had exited for good',
    of: withSidecar,
    edit: [mainOver('Never'), attach],
    expect: { marks: { stopping: false }, containers: { proxy: { stopSignal: false, code: 0 } } },
  },
  {
    sentence: 'was not being stopped if its main container would have restarted',
    of: withSidecar,
    edit: [mainOver('Always'), attach],
    expect: { containers: { proxy: { stopSignal: true } } },
  },
  {
    sentence: 'was not being stopped if its main container was running',
    of: withSidecar,
    edit: [attach],
    expect: { containers: { proxy: { stopSignal: true } } },
  },
];

export const kubelets = {
  'what the kubelet does': did,
  'what the kubelet stops before the deletion': stoppedEarlier,
  'a sidecar before the deletion': sidecars,
};
