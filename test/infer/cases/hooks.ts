/** Hooks that do not do what the pod spec declares, and hooks and signals without a Killing Event. */
import { expect } from 'vitest';
import { drains, plainContainer } from '../../sim/plain-story.ts';
import type { AppStory, Story } from '../../sim/story.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import { adding, alone, changed, changesOf, containerOf, ignoresSignal, listed, stampOf } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { dies, kubelet, pod, anotherClient } from '../../helpers/story-changes.ts';
import type { Case, Edit, Expectation } from './case.ts';
import { aboutPod, also, each, event, withoutStreams } from './edits.ts';
import type { Deletion } from './edits.ts';

const exec = (takesMs: number | null, fails = false, stopsAppMs?: number) =>
  ({ kind: 'exec', takesMs, fails, ...(stopsAppMs !== undefined && { stopsAppMs }) }) as const;
const hooked = (preStop: ReturnType<typeof exec>, app: AppStory): Partial<Story> =>
  alone({ preStop, app, logged: false });

/** The hook asks the application to quit; the application exits `forMs` later. */
const quitting = (forMs: number): Partial<Story> => hooked(exec(9000, false, 20), drains(forMs));
const noSignal = { stopSignal: false } as const;

const endedWithContainer: Case[] = [
  ...[300, 700, 1200, 2500, 4100].map((forMs): Case => ({
    sentence: `shows no stop signal if it makes the application quit within ${forMs} ms`,
    of: quitting(forMs),
    expect: {
      outcome: 'graceful',
      containers: { app: { outcome: 'completed', preStop: 'unknown', ...noSignal } },
      marks: { 'stop-signal': false },
    },
  })),
  {
    sentence: 'failed by itself if its container certainly kept running',
    of: hooked(exec(500, true), drains(2000)),
    expect: { containers: { app: { preStop: 'failed', stopSignal: true } } },
  },
  // Exit and failure are in the same second, and no log line shows which came first.
  ...[150, 250].map((forMs): Case => ({
    sentence: `is reported as failed with both possible reasons if neither can be excluded (${forMs} ms)`,
    of: quitting(forMs),
    expect: { says: { 'prestop-failed': /by itself or because app exited just then/ }, noMessage: /SIGTERM followed/ },
  })),
];

/** A hook of 6 s before the signal, which the application logs at once. */
const logsAfter = (kind: 'exec' | 'httpGet'): Partial<Story> =>
  alone({ preStop: { kind, takesMs: 6000, fails: false }, app: drains(2000), logged: true });

const beforeLoggedSignal: Case[] = [
  {
    sentence: 'of an httpGet request cannot run `kill`, so the log line that names the signal dates it',
    of: logsAfter('httpGet'),
    expect: { containers: { app: { stopSignal: { until: 6, before: 6.5 } } } },
  },
  {
    sentence:
      'of a command may have sent the signal that the log names, so the line does not date the one of the kubelet',
    of: logsAfter('exec'),
    expect: { containers: { app: { stopSignal: { until: 7 } } } },
  },
];

const atGraceEnd: Case[] = [
  {
    sentence: 'used up the grace period if its Events show it',
    of: hooked(exec(null), drains(500)),
    expect: { outcome: 'overran' },
  },
  {
    sentence: 'without Events may have used up the grace period if the container exits about when it ends',
    of: hooked(exec(null), drains(500)),
    edit: [withoutStreams('events')],
    expect: { outcome: 'unknown' },
  },
  {
    sentence: 'without Events did not use up the grace period if the container exits long before its end',
    of: hooked(exec(1000), drains(1000)),
    edit: [withoutStreams('events')],
    expect: { outcome: 'graceful' },
  },
  {
    sentence: 'that finished leaves a kill at the end of the grace period as it is',
    of: hooked(exec(1000), ignoresSignal),
    expect: { outcome: 'killed', findings: ['killed-at-grace'] },
  },
];

/** A FailedPreStopHook arrives this many ms after the last Killing. */
const failingAfter =
  (ms: number): Edit =>
  (all) => {
    const last = changesOf(all, 'events').findLast(({ object }) => object['reason'] === 'Killing');
    if (!last) throw new Error('nothing was killed');
    const at = last.at + ms;
    const failure = aboutPod('FailedPreStopHook', 'PreStopHook failed', 0);
    return also((deletion) => changed(at, 'events', failure({ ...deletion, at }), 'ADDED'))(all);
  };
/** Adds these fields to the pod's containers. */
const declaring = (part: object): Edit =>
  each('pod', (one) => {
    const containers = (one.spec['containers'] as object[]).map((container) => ({ ...container, ...part }));
    return { ...one, spec: { ...one.spec, containers } };
  });
/** Shortens the grace period, and moves the deadline. */
const graced = (seconds: number): Edit =>
  each('pod', ({ metadata, ...one }) => {
    const spec = { ...one.spec, terminationGracePeriodSeconds: seconds };
    const grace = Number(metadata['deletionGracePeriodSeconds'] ?? 0);
    if (grace === 0) return { ...one, metadata, spec };
    const deadline = stampOf(Date.parse(String(metadata['deletionTimestamp'])) - (grace - seconds) * 1000);
    return {
      ...one,
      spec,
      metadata: { ...metadata, deletionTimestamp: deadline, deletionGracePeriodSeconds: seconds },
    };
  });

const unlikeSpec: Case[] = [
  {
    sentence: 'a sleep action that the kubelet does not support fails, and the signal follows at once',
    of: 'prestop-sleep',
    edit: [failingAfter(3)],
    expect: {
      containers: { app: { preStop: 'failed' } },
      says: { 'prestop-failed': /kubelet older than 1\.30 has sleep actions off by default/ },
      holds: (report) => {
        const { preStop, stopSignal } = containerOf(report);
        expect(Date.parse(stopSignal?.earliest ?? '')).toBeLessThan(Date.parse(preStop?.start.latest ?? '') + 1000);
      },
    },
  },
  {
    sentence: 'podexit reports no length for a sleep hook that the kubelet skipped',
    of: 'prestop-sleep',
    edit: [declaring({ lifecycle: { preStop: { sleep: { seconds: 9 } } } })],
    expect: { containers: { app: { preStop: 'unknown' } }, without: ['prestop-heavy'] },
  },
  {
    sentence: 'a hook that fails in a second attempt after a kubelet restart may have been cut off',
    of: 'kubelet-restart',
    edit: [graced(5), failingAfter(4990)],
    expect: { holds: (report) => expect(containerOf(report).preStop?.outcome).not.toBe('failed') },
  },
  {
    sentence: 'a shell as the container’s command receives the signal instead of the application',
    of: alone({ app: ignoresSignal }),
    edit: [declaring({ command: ['bash', '-c', 'node server.js'] })],
    expect: { says: { 'no-signal-handling': /a shell that stays PID 1 does not pass it on/ } },
  },
  {
    sentence: 'a script that ends with exec on a line of its own leaves no shell as PID 1',
    of: alone({ app: ignoresSignal }),
    edit: [declaring({ command: ['sh', '-c', 'mkdir -p /www\nexec httpd -f -h /www'] })],
    expect: { says: { 'no-signal-handling': /has a handler for its stop signal/ } },
  },
  {
    sentence: 'a trap in the command handles the signal, so silence does not show that it was ignored',
    of: alone({ app: ignoresSignal }),
    edit: [declaring({ command: ['sh', '-c', 'trap "flush --all; exit 0" TERM; while :; do work; done'] })],
    expect: { findings: ['killed-at-grace'], without: ['no-signal-handling'], sentence: /app was still running/ },
  },
  {
    sentence: 'the last trap counts: if it is empty, the container ignores the signal',
    of: alone({ app: ignoresSignal }),
    edit: [declaring({ command: ['sh', '-c', `trap 'flush; exit 0' TERM; trap "" TERM; while :; do work; done`] })],
    expect: { findings: ['no-signal-handling'], sentence: /app ignored SIGTERM/ },
  },
  {
    sentence: 'exec undoes a trap, and silence alone does not prove that the signal was ignored',
    of: alone({ app: ignoresSignal }),
    edit: [declaring({ command: ['sh', '-c', 'trap "exit 0" TERM; exec server'] })],
    expect: { findings: ['no-signal-handling'], sentence: /app showed no reaction to SIGTERM/ },
  },
];

const noKilling: Partial<Story> = { events: { queueMs: [2, 6], dropped: ['Killing'] } };
const namespaceEnds: Partial<Story> = { trigger: { kind: 'namespace-deletion', atMs: 1240 } };
const failing = alone({ preStop: exec(500, true) });
const reloads = alone({
  app: { ...drains(3000), saysOnSignal: undefined, lines: [{ atMs: -800, text: 'SIGHUP received, reloading' }] },
});
/** The first list holds an Event about the container from this many ms before the deletion. */
const listedBefore =
  (reason: string, ago: number, count = 1): Edit =>
  (all) => {
    const old = aboutPod(reason, '', -ago, { count, firstMs: -ago - 1000 * (count - 1) });
    return also((deletion) => listed(deletion.runStart + 40, 'events', old(deletion)))(all);
  };

const endingBefore = (code: number, atMs = 700): AppStory => ({
  ...dies,
  onSignal: { kind: 'exits', afterMs: 300, code: 0 },
  ownExit: { atMs, code },
});
const busy = (ms: number) => kubelet({ noticeMs: [ms, ms] });
const neitherHookNorSignal: Expectation = {
  marks: { 'prestop-ended': false },
  containers: { app: { ...noSignal, notOutcome: ['signalled'] } },
  without: ['prestop-failed', 'prestop-cut-off', 'prestop-heavy', 'prestop-unknown'],
  holds: (report) => expect(containerOf(report).preStop?.outcome ?? 'unknown').toBe('unknown'),
};

const withoutKilling: Case[] = [
  ...[
    ['the Killing is lost', { ...anotherClient, ...noKilling }] as const,
    ['the namespace is deleted', namespaceEnds] as const,
  ].map(([why, story]): Case => ({
    sentence: `a log line from before the deletion does not show the stop signal (${why})`,
    of: { ...reloads, ...story },
    expect: { truth: true },
  })),
  ...[1_800_000, 90_000].map((ago): Case => ({
    sentence: `a FailedPreStopHook from ${ago} ms before the deletion is not about this exit, even without a Killing`,
    of: { ...alone({ preStop: exec(500) }), ...noKilling },
    edit: [listedBefore('FailedPreStopHook', ago)],
    expect: {
      without: ['prestop-failed'],
      holds: (report) => expect(containerOf(report).preStop?.outcome).not.toBe('failed'),
    },
  })),
  {
    sentence: 'a FailedPreStopHook without a Killing may be that of an earlier kill',
    of: { ...failing, ...noKilling },
    expect: { containers: { app: { preStop: 'unknown' } } },
  },
  ...[
    ['no hook', alone({ app: endingBefore(1) })] as const,
    ['no hook, code 143', alone({ app: endingBefore(143) })] as const,
    ['a sleep', alone({ app: endingBefore(0), preStop: { kind: 'sleep', seconds: 5 } })] as const,
    ['an exec', alone({ app: endingBefore(0), preStop: exec(800) })] as const,
    ['a tcpSocket', alone({ app: endingBefore(0), preStop: { kind: 'tcpSocket' } })] as const,
  ].map(([hook, change]): Case => ({
    sentence: `a container that exits before a busy kubelet reacts gets neither hook nor signal (${hook})`,
    of: { ...change, ...busy(2000) },
    expect: { truth: true, ...neitherHookNorSignal },
  })),
  {
    sentence: 'a container that exits while a busy kubelet has not reacted yet runs no hook',
    of: { ...alone({ app: endingBefore(0, 8000), preStop: { kind: 'sleep', seconds: 6 } }), ...busy(15_000) },
    expect: neitherHookNorSignal,
  },
  {
    sentence: 'a container that exits before a busy kubelet reacts gets no signal, though another container does',
    of: {
      containers: [plainContainer({ name: 'web' }), plainContainer({ name: 'worker', app: endingBefore(139) })],
      ...busy(2000),
    },
    expect: { containers: { worker: { outcome: 'failed', code: 139, ...noSignal }, web: { stopSignal: true } } },
  },
  {
    sentence: 'a missing FailedPreStopHook shows nothing in a namespace that is being deleted',
    of: { ...alone({ app: drains(4000), preStop: exec(500, true) }), ...namespaceEnds },
    expect: { holds: (report) => expect(containerOf(report).preStop?.outcome ?? 'unknown').toBe('unknown') },
  },
  ...[[140, 'unknown'] as const, [3, 'completed'] as const].map(([count, preStop]): Case => ({
    sentence: `a missing FailedPreStopHook means ${preStop} after ${count} probe failures: they use up the Event limit`,
    of: { ...failing, events: { queueMs: [2, 6], dropped: ['FailedPreStopHook'] } },
    edit: [listedBefore('Unhealthy', 3000, count)],
    expect: { containers: { app: { preStop } } },
  })),
];

/** The stop signal ends the container before the kubelet acknowledges the deletion; the Killing never arrives. */
const killingLost: Partial<Story> = {
  ...alone({ app: dies, logged: false }),
  ...kubelet({ ackMs: [700, 800] }),
  ...noKilling,
};
const lostEvents = (from: number, to?: number): RawObservation => ({
  ...{ kind: 'gap', at: from, stream: 'events', from, cause: 'disconnected' },
  ...(to !== undefined && { to }),
});
const pastItsGrace: Partial<Story> = {
  ...alone({ preStop: { kind: 'sleep', seconds: 2 }, app: { ...drains(0), lines: [] }, logged: false }),
  ...pod({ graceSeconds: 1 }),
};
const lost = (gap: (deletion: Deletion) => RawObservation): Edit[] => [withoutStreams('events'), also(gap)];
const killingOf = (container: string) => (one: Raw) =>
  one['reason'] === 'Killing' &&
  (one['involvedObject'] as { fieldPath?: string }).fieldPath === `spec.containers{${container}}`;
/** The Event stream breaks this long after the first Killing, and does not come back. */
const lostAfterKilling =
  (ms: number): Edit =>
  (all) => {
    const killing = changesOf(all, 'events').find(({ object }) => object['reason'] === 'Killing');
    return adding(all, lostEvents((killing?.at ?? NaN) + ms));
  };

const killingNotReceived: Case[] = [
  {
    sentence: '143 may be the application’s own exit code if the kubelet still could send Events',
    of: killingLost,
    expect: { containers: { app: { outcome: 'unknown' } } },
  },
  {
    sentence: '143 is the stop signal if Killing Events were combined into one',
    of: killingLost,
    edit: [
      event('Killing', '(combined from similar events): Stopping container other', 100, {
        container: 'other',
        count: 4,
      }),
    ],
    expect: { containers: { app: { outcome: 'signalled' } } },
  },
  {
    sentence: 'Events show that a hook exceeded the grace period',
    of: pastItsGrace,
    expect: { outcome: 'overran' },
  },
  ...[-1000, 500].map((ms): Case => ({
    sentence: `a hook may have exceeded the grace period if the Event stream broke (${ms} ms) and never came back`,
    of: pastItsGrace,
    edit: lost(({ at }) => lostEvents(at + ms)),
    expect: { outcome: 'unknown' },
  })),
  {
    sentence: 'a hook did not exceed the grace period if the Event stream came back with no such Event',
    of: pastItsGrace,
    edit: lost(({ at }) => lostEvents(at - 1000, at + 500)),
    expect: { outcome: 'graceful' },
  },
  {
    sentence: 'a hook did not exceed the grace period if the Event stream broke only after the pod was removed',
    of: pastItsGrace,
    edit: lost(({ removed }) => lostEvents(removed + 2100)),
    expect: { outcome: 'graceful' },
  },
  ...['legacy', 'worker', 'web'].flatMap((container) =>
    [10, 1000, 7000].map((ms): Case => {
      const missing = each('events', (one) => (killingOf(container)(one) ? undefined : one));
      return {
        sentence: `a missing Killing of ${container} stays missing if Events break off ${ms} ms after the first one`,
        of: 'multi-container',
        edit: [missing],
        expect: { same: [lostAfterKilling(ms)] },
      };
    }),
  ),
];

/** The container exits by itself long before its sleep hook ends. */
const early: AppStory = { ...drains(1000), ownExit: { atMs: 1500, code: 0 } };

const outliving: Case[] = [
  {
    sentence: 'is over when the status reports that all containers terminated, which waits for every hook',
    of: alone({ preStop: { kind: 'sleep', seconds: 5 }, app: early }),
    expect: {
      truth: true,
      containers: { app: { preStop: 'completed', preStopEnd: { after: 4.9, before: 5.5 }, exit: { before: 3 } } },
    },
  },
  {
    sentence: 'is not over when its container exits, even if no Lease would show a paused kubelet',
    of: alone({ preStop: { kind: 'sleep', seconds: 5 }, app: early }),
    edit: [withoutStreams('lease')],
    expect: { truth: true, containers: { app: { preStopEnd: { after: 4.9 }, exit: { before: 3 } } } },
  },
];

export const hooks = {
  'a sleep that outlives its container': outliving,
  'a hook that ends with its container': endedWithContainer,
  'a hook before a signal that the log names': beforeLoggedSignal,
  'a hook at the end of the grace period': atGraceEnd,
  'behaviour that differs from the spec': unlikeSpec,
  'hooks and signals without a Killing': withoutKilling,
  'a Killing that was not received': killingNotReceived,
};
