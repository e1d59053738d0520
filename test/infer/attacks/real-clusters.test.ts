/** What a campaign on a real cluster caught: each time something was claimed that had not been so. */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer } from '../../sim/plain-story.ts';
import {
  adding,
  alone,
  attached,
  changed,
  changesOf,
  containerOf,
  deaf,
  editing,
  eventOf,
  findingCodes,
  judged,
  markedIn,
  stampOf,
  storyReport,
  told,
  without,
} from '../../helpers/cases.ts';
import type { AppStory } from '../../sim/story.ts';
import type { Sighting } from '../../../src/model/observation.ts';
import type { Raw } from '../../helpers/cases.ts';
import { statusesIn } from '../../helpers/raw-edits.ts';
import { asked, dies, kubelet, pod } from '../../helpers/story-changes.ts';

/** The Event of a start of `app` that long (ms) before the deletion, told 10 ms later. */
function startedBefore(sightings: readonly Sighting[], ms: number): Sighting {
  const { at, object } = markedIn(sightings);
  const { uid, name } = object.metadata;
  const about = { kind: 'Pod', name, uid, container: 'app' } as const;
  const event = eventOf(about, { reason: 'Started', message: 'Started container app' }, { at: at - ms });
  return changed(at - ms + 10, 'events', event, 'ADDED');
}

describe('what a forced DELETE left behind', () => {
  it('may be a sidecar alone', () => {
    const report = storyReport({
      containers: [
        plainContainer({ state: { kind: 'crashed', code: 1 } }),
        plainContainer({ name: 'proxy', kind: 'sidecar', app: drains(20_000) }),
      ],
      ...asked(0),
    });
    expect(report.verdict).toMatchObject({ outcome: 'forced', exitCode: 2 });
    expect(findingCodes(report)).toContain('force-deleted');
  });

  it('may be a container of which only an Event tells that it was started', () => {
    const waiting = told({ ...alone({ state: { kind: 'waiting', reason: 'ContainerCreating' } }), ...asked(0) });
    expect(judged(waiting).verdict.outcome).toBe('removed');
    const started = adding(waiting, startedBefore(waiting, 500));
    expect(judged(started).verdict).toMatchObject({ outcome: 'forced', exitCode: 2 });
  });
});

describe('a container that was started again just before a forced DELETE', () => {
  it('did not end as its run before did', () => {
    const crashed = told({ ...alone({ state: { kind: 'crashed', code: 1 } }), ...asked(0) });
    expect(judged(crashed)).toMatchObject({
      containers: [{ outcome: 'not-running' }],
      verdict: { outcome: 'removed' },
    });
    const logless = crashed.filter(({ kind }) => kind !== 'log-ended');
    const started = startedBefore(crashed, 60);
    const report = judged(adding(logless, started));
    expect(report.containers[0]).toMatchObject({ outcome: 'abandoned' });
    expect(report.containers[0]).not.toHaveProperty('exit');
    expect(report.verdict).toMatchObject({ outcome: 'forced', exitCode: 2 });
    // A log that ended after that start may be the new run's.
    expect(judged(adding(crashed, started)).verdict.outcome).toBe('unknown');
  });
});

describe('a doubt about one container’s grace', () => {
  it('changes nothing of what is certain of another', () => {
    const silent = plainContainer({
      name: 'silent',
      preStop: { kind: 'exec', takesMs: null, fails: false },
      app: drains(500),
      logged: false,
    });
    const sightings = without(told({ containers: [silent, plainContainer({ app: deaf })] }), 'events');
    const report = judged(sightings);
    expect(judged(without(told(alone(silent)), 'events')).verdict.exitCode).toBe(4);
    expect(report.verdict).toMatchObject({ outcome: 'killed', exitCode: 2 });
  });
});

describe('a container that ended by itself while its sleep went on', () => {
  it.each([0, 1])('was sent no stop signal (exit code %i)', (code) => {
    // The sleep ends at the end of the second of which finishedAt is.
    const report = storyReport({
      ...alone({
        preStop: { kind: 'sleep', seconds: 4 },
        app: { ...drains(500), ownExit: { atMs: 3400, code } },
        logged: false,
      }),
      trigger: { kind: 'this-command', atMs: 1560, graceSeconds: null, uid: false },
    });
    expect(containerOf(report).exit).toBeDefined();
    expect(containerOf(report).stopSignal).toBeUndefined();
    expect(report.marks.map(({ name }) => name)).not.toContain('stop-signal');
  });

  it('is taken to have obeyed where it ended just after', () => {
    const report = storyReport(alone({ preStop: { kind: 'sleep', seconds: 4 }, app: drains(1200), logged: false }));
    expect(containerOf(report).stopSignal).toBeDefined();
  });
});

describe('a sidecar', () => {
  const restarted = (sightings: readonly Sighting[], restarts: number) =>
    editing(sightings, 'pod', (object) => {
      for (const status of (object.status['initContainerStatuses'] ?? []) as Raw[]) status['restartCount'] = restarts;
      return object;
    });

  it('has its signal at the end of the grace, also where the main container goes on', () => {
    const report = storyReport({
      containers: [
        plainContainer({ app: deaf, logged: false }),
        plainContainer({ name: 'proxy', kind: 'sidecar', app: drains(300), logged: false }),
      ],
      ...pod({ graceSeconds: 2 }),
    });
    expect(containerOf(report, 'proxy').stopSignal).toBeDefined();
  });

  it('that has ended by itself before may have done so again, where its exit may be before its turn', () => {
    const crashing = told({
      containers: [
        plainContainer({ logged: false }),
        plainContainer({
          name: 'proxy',
          kind: 'sidecar',
          app: { ...dies, ownExit: { atMs: 900, code: 0 } },
          logged: false,
        }),
      ],
    });
    const after = (restarts: number) => containerOf(judged(restarted(crashing, restarts)), 'proxy');
    expect(after(3)).toMatchObject({ outcome: 'completed' });
    expect(after(3).stopSignal).toBeUndefined();
    // Of one that never did it is the less likely.
    expect(after(0).stopSignal).toBeDefined();
  });
});

describe('a hook that failed just before the grace ended', () => {
  it('left no doubt that it was not cut off', () => {
    const report = storyReport({
      ...alone({ preStop: { kind: 'exec', takesMs: 2750, fails: true }, app: dies, logged: false }),
      ...pod({ graceSeconds: 3 }),
    });
    expect(report.verdict).toMatchObject({ outcome: 'graceful', exitCode: 0 });
  });
});

describe('an application that always writes of signals', () => {
  const chatty = Array.from({ length: 30 }, (_, index) => ({
    atMs: index * 300,
    text: `got SIGTERM? not yet ${index}`,
  }));
  const story = alone({
    preStop: { kind: 'exec', takesMs: 3000, fails: false },
    app: { ...dies, lines: chatty },
  });
  const sleeping = editing(told(story), 'pod', (object) => {
    const [app] = object.spec['containers'] as { lifecycle?: unknown }[];
    if (app) app.lifecycle = { preStop: { exec: { command: ['sleep', '3'] } } };
    return object;
  });

  it('proves no signal by it while its hook can only sleep', () => {
    const app = containerOf(judged(sleeping));
    const began = Date.parse(judged(sleeping).marks.find(({ name }) => name === 'stopping')?.at.earliest ?? '');
    expect(Date.parse(app.preStop?.end.latest ?? '') - began).toBeGreaterThanOrEqual(2990);
    expect(Date.parse(app.stopSignal?.earliest ?? '') - began).toBeGreaterThanOrEqual(2990);
  });
});

describe('a probe that had the run before killed', () => {
  it('leaves no doubt about what ended the run that the deletion found', () => {
    const sightings = told({ ...alone({ app: deaf, logged: false }), ...pod({ graceSeconds: 2 }) });
    const marked = markedIn(sightings);
    const { uid, name } = marked.object.metadata;
    const startedAt = marked.at - 1500;
    const probed = eventOf(
      { kind: 'Pod', name, uid, container: 'app' },
      { reason: 'Killing', message: 'Container app failed startup probe, will be restarted' },
      { at: startedAt - 4000 },
    );
    // The status of the first state is of the run before; that of the end tells of the last one.
    const lagging = editing(sightings, 'pod', (object) => {
      for (const status of statusesIn(object)) {
        const state = status['state'] as { running?: Raw; terminated?: { startedAt?: string } };
        if (state.running) state.running = { startedAt: stampOf(startedAt - 60_000) } as unknown as Raw;
        if (state.terminated) state.terminated.startedAt = stampOf(startedAt);
      }
      return object;
    });
    const report = judged(adding(lagging, changed(startedAt - 3990, 'events', probed, 'ADDED')));
    expect(containerOf(report)).toMatchObject({ outcome: 'killed' });
    expect(report.verdict.outcome).toBe('killed');
  });
});

describe('a postStart hook that failed in the second in which its run started', () => {
  it('may have had that run killed: what ended it is not known', () => {
    const own: AppStory = { onSignal: { kind: 'exits', afterMs: 300, code: 137 }, lost: false, lines: [] };
    const sightings = told({ ...alone({ app: own, logged: false }), ...pod({ graceSeconds: 6 }) });
    const marked = markedIn(sightings);
    const startedAt = Math.floor((marked.at - 2500) / 1000) * 1000;
    const starting = editing(sightings, 'pod', (object) => {
      for (const status of statusesIn(object)) {
        const { running, terminated } = status['state'] as Record<string, { startedAt?: string } | undefined>;
        for (const state of [running, terminated]) if (state) state.startedAt = stampOf(startedAt);
      }
      return object;
    });
    const { uid, name } = marked.object.metadata;
    const killed = (message: string) => {
      const event = eventOf(
        { kind: 'Pod', name, uid, container: 'app' },
        { reason: 'Killing', message },
        { at: startedAt + 400 },
      );
      return containerOf(judged(adding(starting, changed(startedAt + 410, 'events', event, 'ADDED')))).outcome;
    };
    expect(killed('FailedPostStartHook')).toBe('unknown');
    expect(killed('Container app failed liveness probe, will be restarted')).toBe('failed');
  });
});

describe('a kubelet that began anew', () => {
  it('may have run the hook until the grace ended that it counted anew', () => {
    const report = storyReport({
      ...alone({ preStop: { kind: 'exec', takesMs: null, fails: false }, app: drains(200), logged: false }),
      ...pod({ graceSeconds: 5 }),
      faults: [{ kind: 'kubelet-restart', atMs: 2600, downMs: 600 }],
    });
    const began = report.marks.find(({ name }) => name === 'stopping')?.at.earliest ?? '';
    expect(Date.parse(containerOf(report).preStop?.end.latest ?? '') - Date.parse(began)).toBeGreaterThan(7500);
  });
});

describe('a container that had ended before its kubelet knew of the deletion', () => {
  it('ran no hook', () => {
    const sightings = told({
      ...alone({
        preStop: { kind: 'exec', takesMs: 1000, fails: false },
        app: { ...dies, ownExit: { atMs: 100, code: 1 } },
        logged: false,
      }),
      ...kubelet({ noticeMs: [1500, 1500] }),
    });
    const marked = markedIn(sightings);
    const { containerStatuses } = changesOf(sightings, 'pod').at(-1)?.object.status ?? {};
    const { resourceVersion: _later, ...metadata } = marked.object.metadata;
    const crashed = { ...marked.object, metadata, status: { ...marked.object.status, containerStatuses } };
    const since = editing(sightings, 'pod', (object, { at }) =>
      at > marked.at + 400 ? { ...object, status: { ...object.status, containerStatuses } } : object,
    );
    const app = containerOf(judged(adding(since, changed(marked.at + 400, 'pod', crashed))));
    expect(app).toMatchObject({ outcome: 'failed', exit: { code: 1 } });
    expect(app.preStop).toBeUndefined();
    expect(app.stopSignal).toBeUndefined();
  });
});

describe('a container that ended seconds before the DELETE, which its kubelet had not noticed', () => {
  it('was sent no signal, also where the runtime then stood still, and the clock is doubted for it', () => {
    const sightings = told({
      containers: [
        plainContainer({ name: 'done', app: drains(500), logged: false }),
        plainContainer({ app: drains(2000, 143) }),
      ],
    });
    const { at } = markedIn(sightings);
    const late = sightings.map((one) => (one.at > at + 1500 ? { ...one, at: one.at + 9000 } : one));
    const own = editing(late, 'pod', (object) => ({
      ...object,
      status: {
        ...object.status,
        containerStatuses: statusesIn(object).map((status) =>
          status.name === 'done' && status.state.terminated
            ? { ...status, state: { terminated: { ...status.state.terminated, finishedAt: stampOf(at - 3000) } } }
            : status,
        ),
      },
    }));
    const report = judged(own);
    expect(report.gaps.map(({ cause }) => cause)).toContain('clock-doubtful');
    expect(containerOf(report, 'app').stopSignal).toBeDefined();
    expect(containerOf(report, 'done')).toMatchObject({ outcome: 'completed', exit: { code: 0 } });
    expect(containerOf(report, 'done').stopSignal).toBeUndefined();
  });
});

describe('a process killed for memory beside the one that ended', () => {
  it('is named where the container failed', () => {
    const report = storyReport(
      alone({ app: { ...drains(500), onSignal: { kind: 'child-oom', afterMs: 500, code: 1 } } }),
    );
    const finding = report.verdict.findings.find(({ code }) => code === 'exit-nonzero');
    expect(finding?.message).toMatch(/exited with code 1 .*\(OOMKilled: one of its processes ran out of memory\)/);
    expect(finding?.advice).toMatch(/memory limit/);
  });
});

describe('a static pod whose manifest was taken away', () => {
  const marks = { 'kubernetes.io/config.mirror': 'a1b2', 'kubernetes.io/config.hash': 'a1b2' };

  it.each([
    ['exited with 1', 1, 'failed'],
    ['exited with 0', 0, 'graceful'],
  ])('%s before its copy was removed', (_, code, outcome) => {
    const all = attached(
      told({ ...alone({ logged: false }), trigger: { kind: 'unknown', atMs: 3000, graceSeconds: 0 } }),
    );
    const marked = markedIn(all);
    const terminated = {
      exitCode: code,
      finishedAt: stampOf(marked.at - 1000),
      startedAt: stampOf(marked.at - 60_000),
    };
    const copy = editing(without(all, 'events'), 'pod', (object, { at }) => {
      if (at >= marked.at) for (const status of statusesIn(object)) status['state'] = { terminated };
      return { ...object, metadata: { ...object.metadata, annotations: marks } };
    });
    const event = eventOf(
      { kind: 'Pod', name: marked.object.metadata.name, uid: 'a1b2', container: 'app' },
      { reason: 'Killing', message: 'Stopping container app' },
      { at: marked.at - 1200 },
    );
    const report = judged(adding(copy, changed(marked.at - 1190, 'events', event, 'ADDED')));
    expect(report.verdict.outcome).toBe(outcome);
    expect(findingCodes(report)).not.toContain('force-deleted');
  });
});
