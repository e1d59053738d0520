/** What a check forecasts, over facts alone. */
import { describe, expect, it } from 'vitest';
import { narrowPod } from '../../src/model/observe/pod.ts';
import type { ExitReport, FindingCode } from '../../src/model/report.ts';
import type { BudgetFacts, CheckFacts } from '../../src/verdict/check/facts.ts';
import { forecast } from '../../src/verdict/check/forecast.ts';
import { gateRule } from '../../src/verdict/gates.ts';

interface Case {
  spec?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  status?: Record<string, unknown>;
  facts?: Partial<CheckFacts>;
  failOn?: FindingCode;
}

const running = (name: string) => ({ name, state: { running: {} } });

const slicesOf = (...services: string[]) =>
  services.map((service) => ({
    metadata: { name: `${service}-1`, uid: service, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: [{ targetRef: { uid: 'u' }, conditions: { ready: true } }],
  })) as unknown as CheckFacts['slices'];

function check({ spec = {}, metadata = {}, status = {}, facts = {}, failOn }: Case): ExitReport {
  const pod = narrowPod({
    metadata: { name: 'web', uid: 'u', ...metadata },
    spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'app' }], ...spec },
    status: { phase: 'Running', containerStatuses: [running('app')], ...status },
  });
  const read = { services: [], slices: [], budgets: [], hookSeconds: new Map(), commandLines: new Map() };
  const asked = { requestedSeconds: null, timeoutSeconds: null, evict: false, sources: new Map(), refused: [] };
  const gates = failOn === undefined ? [] : [gateRule({ kind: 'fail-on', code: failOn })];
  return forecast({ at: 0, pod, ...read, ...asked, ...facts }, { gates, warnOnly: false });
}

const findingOf = (one: Case, code: FindingCode) =>
  check(one).verdict.findings.find((finding) => finding.code === code);

/** `sh -c LINE` as the container is written. */
const shell = (line: string, failOn?: FindingCode): Case => ({
  spec: { containers: [{ name: 'app', command: ['sh', '-c', line] }] },
  facts: { commandLines: new Map([['app', line]]) },
  ...(failOn ? { failOn } : {}),
});

describe('a pod that stands twice', () => {
  const [slice] = slicesOf('web');
  const own = { targetRef: { uid: 'u' }, conditions: { ready: true } };
  const other = { targetRef: { uid: 'o' }, conditions: { ready: true } };
  const told = (...endpoints: object[][]): Case => ({
    facts: {
      slices: endpoints.map((some, at) => ({
        ...slice,
        metadata: { ...slice?.metadata, name: `web-${at}` },
        endpoints: some,
      })) as CheckFacts['slices'],
    },
  });

  it.each([
    ['in two slices', told([own], [own])],
    ['in one slice', told([own, own])],
  ])('%s is not its own other endpoint', (_, one) => {
    expect(findingOf(one, 'last-endpoint')?.message).toBe('forecast: Service web has no other ready endpoint');
  });

  it('and another one in two slices is one other', () => {
    expect(check(told([own, other], [other])).endpoints.map(({ otherReady }) => otherReady)).toEqual([1]);
  });
});

describe('PID 1 that is started as a shell', () => {
  it.each([
    'sh /c/run.sh',
    'echo hi && sh /c/run.sh',
    '. /c/run.sh',
    'source /c/run.sh',
    'cd /app; PORT=80 node server.js --name "a; b & c" 2>&1',
    'node server.js --port ${PORT:-80} # serve & wait',
    'migrate\nnode server.js\n',
  ])('%s: it depends on the shell, and no gate fails', (line) => {
    expect(findingOf(shell(line), 'no-signal-handling')).toMatchObject({
      severity: 'info',
      message: expect.stringMatching(/depends on the shell/) as string,
    });
    const { gates, exitCode } = check(shell(line, 'no-signal-handling')).verdict;
    expect(gates).toMatchObject([{ passed: true, message: expect.stringContaining('depends on the shell') as string }]);
    expect(exitCode).toBe(0);
  });

  it.each([
    'sh /c/run.sh & wait $!',
    'node server.js; echo "exited $?"',
    'while true; do node server.js; done',
    'node server.js | tee /log',
    'if true; then node server.js; fi',
    '(cd /app; node server.js)',
    'node a.js & node b.js &',
    'sleep 1000',
    'echo ready; /bin/sleep infinity',
  ])('%s: its stop signal is ignored, and a gate fails', (line) => {
    expect(findingOf(shell(line), 'no-signal-handling')).toMatchObject({ severity: 'warning' });
    expect(check(shell(line, 'no-signal-handling')).verdict.exitCode).toBe(2);
  });

  it('is told of an init container that runs, and not of one that has ended', () => {
    const init = (state: Record<string, unknown>): Case => ({
      spec: { initContainers: [{ name: 'migrate', command: ['sh', '-c', 'sleep 1000'] }] },
      status: { containerStatuses: [], initContainerStatuses: [{ name: 'migrate', state }] },
      facts: { commandLines: new Map([['migrate', 'sleep 1000']]) },
    });
    expect(findingOf(init({ running: {} }), 'no-signal-handling')?.message).toMatch(/PID 1 of migrate/);
    expect(findingOf(init({ terminated: { exitCode: 0 } }), 'no-signal-handling')).toBeUndefined();
  });
});

describe('finalizers', () => {
  const held = (...finalizers: string[]) => findingOf({ metadata: { finalizers } }, 'finalizer-held');

  it('that every pod of a Job has are no trouble', () => {
    expect(held('batch.kubernetes.io/job-tracking')).toBeUndefined();
  });

  it('of others are told beside it', () => {
    expect(held('batch.kubernetes.io/job-tracking', 'example.com/a')?.message).toMatch(
      /until example\.com\/a is removed/,
    );
    expect(held('example.com/a', 'example.com/b')?.message).toMatch(/a and example\.com\/b are removed/);
  });
});

describe('what a hook leaves', () => {
  const after = (grace: number, hook: number, requestedSeconds: number | null = null) =>
    findingOf(
      {
        spec: { terminationGracePeriodSeconds: grace },
        facts: { hookSeconds: new Map([['app', hook]]), requestedSeconds },
      },
      hook >= (requestedSeconds ?? grace) ? 'prestop-cut-off' : 'grace-nearly-spent',
    );

  it('is never less than the 2 s that the kubelet gives', () => {
    expect(after(7, 6)?.message).toMatch(/leaves 2 s \(the least that the kubelet gives\) for app/);
    expect(after(20, 16)?.message).toMatch(/leaves 4 s for app/);
  });

  it('is blamed on the request where that lowered the grace', () => {
    expect(after(30, 6, 5)?.advice).toMatch(/^The deletion asked for 5 s instead of the spec's 30 s/);
    expect(after(30, 40)?.advice).toMatch(/^Raise terminationGracePeriodSeconds/);
  });
});

describe('a container that does not run', () => {
  const starting = { waiting: { reason: 'PodInitializing' } };
  const crashed = { waiting: { reason: 'CrashLoopBackOff' } };
  /** Its hook is as long as the grace. */
  const app = { name: 'app', lifecycle: { preStop: { sleep: { seconds: 5 } } } };
  const facts = { hookSeconds: new Map([['app', 5]]) };
  const behindSidecar = (main: Record<string, unknown>, sidecar: Record<string, unknown>): Case => ({
    spec: {
      terminationGracePeriodSeconds: 5,
      initContainers: [{ name: 'proxy', restartPolicy: 'Always' }],
      containers: [app],
    },
    status: {
      initContainerStatuses: [{ name: 'proxy', state: sidecar }],
      containerStatuses: [{ name: 'app', state: main }],
    },
    facts,
  });
  const beside = (state: Record<string, unknown>): Case => ({
    spec: { terminationGracePeriodSeconds: 5, containers: [app, { name: 'web' }] },
    status: { containerStatuses: [{ name: 'app', state }, running('web')] },
    facts,
  });

  it.each([
    ['that has not started behind its sidecar', behindSidecar(starting, { running: {} })],
    ['that waits for its restart beside another', beside(crashed)],
    ['that has ended beside another', beside({ terminated: { exitCode: 0 } })],
  ])('%s has no hook that could be cut off', (_, one) => {
    expect(check(one).verdict).toMatchObject({ outcome: 'graceful', exitCode: 0 });
    expect(findingOf(one, 'prestop-cut-off')).toBeUndefined();
  });

  it('has one as soon as it runs', () => {
    for (const one of [behindSidecar({ running: {} }, { running: {} }), beside({ running: {} })]) {
      expect(check(one).verdict).toMatchObject({ outcome: 'overran', exitCode: 2 });
      expect(findingOf(one, 'prestop-cut-off')).toBeDefined();
    }
  });

  it('has neither a hook that fails nor a shell that keeps the stop signal to itself', () => {
    const deaf = {
      name: 'app',
      command: ['sh', '-c', 'sleep 1000'],
      lifecycle: { preStop: { tcpSocket: { port: 1 } } },
    };
    const one = (state: Record<string, unknown>): Case => ({
      spec: { containers: [deaf, { name: 'web' }] },
      status: { containerStatuses: [{ name: 'app', state }, running('web')] },
      facts: { commandLines: new Map([['app', 'sleep 1000']]) },
    });
    const codes = (state: Record<string, unknown>) => check(one(state)).verdict.findings.map(({ code }) => code);
    expect(codes({ running: {} })).toEqual(['no-signal-handling', 'prestop-failed', 'unmanaged-pod']);
    expect(codes(crashed)).toEqual(['unmanaged-pod']);
  });

  it('shares no grace: neither a sidecar that waits, nor one whose main container does', () => {
    expect(findingOf(behindSidecar({ running: {} }, { running: {} }), 'sidecar-killed')).toBeDefined();
    expect(findingOf(behindSidecar({ running: {} }, crashed), 'sidecar-killed')).toBeUndefined();
    expect(findingOf(behindSidecar(starting, { running: {} }), 'sidecar-killed')).toBeUndefined();
  });
});

describe('a budget that allows no disruption', () => {
  const budget = (change: Partial<BudgetFacts> = {}): BudgetFacts => ({
    ...{ name: 'keep', allowed: 0, healthy: 1, desired: 2, evictsUnready: false, text: 'the budget allows 0' },
    ...change,
  });
  const pod = (phase: string, ready: boolean): Case['status'] => ({
    phase,
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  });
  const judged = (status: Case['status'], budgets: BudgetFacts[], evict = true) => {
    const { gates, exitCode } = check({ status: status ?? {}, facts: { budgets, evict } }).verdict;
    return { ...gates[0], exitCode };
  };

  it.each<[string, Case['status'], BudgetFacts, RegExp]>([
    ['has ended', pod('Succeeded', false), budget(), /heeds no budget of a pod that is Succeeded$/],
    ['has failed', pod('Failed', false), budget(), /heeds no budget of a pod that is Failed$/],
    ['has not begun', pod('Pending', false), budget(), /heeds no budget of a pod that is Pending$/],
    [
      'is not ready where AlwaysAllow holds',
      pod('Running', false),
      budget({ evictsUnready: true }),
      /it is not ready, and the budget's unhealthyPodEvictionPolicy is AlwaysAllow$/,
    ],
    [
      'is not ready beside enough that are healthy',
      pod('Running', false),
      budget({ healthy: 2 }),
      /it is not ready, and as many others are healthy as must stay$/,
    ],
  ])('lets a pod be evicted that %s', (_, status, one, words) => {
    for (const evict of [true, false])
      expect(judged(status, [one], evict)).toMatchObject({
        passed: true,
        message: expect.stringMatching(words) as string,
        exitCode: 0,
      });
  });

  it.each<[string, Case['status'], BudgetFacts]>([
    ['is ready', pod('Running', true), budget({ healthy: 2 })],
    ['is ready where AlwaysAllow holds', pod('Running', true), budget({ evictsUnready: true })],
    ['is not ready beside too few that are healthy', pod('Running', false), budget()],
    ['is not ready where none has to be healthy', pod('Running', false), budget({ healthy: 0, desired: 0 })],
    ['nobody has heard of since', pod('Unknown', false), budget()],
  ])('holds a pod that %s', (_, status, one) => {
    expect(judged(status, [one])).toMatchObject({ passed: false, message: 'the budget allows 0', exitCode: 2 });
    expect(judged(status, [one], false)).toMatchObject({
      passed: true,
      message: expect.stringMatching(/an eviction \(kubectl drain\) would be refused$/) as string,
    });
  });

  it('is refused with a second one whatever they allow, but for a pod that no budget counts for', () => {
    const two = [budget({ allowed: 1, evictsUnready: true }), budget({ allowed: 1 })];
    for (const ready of [true, false])
      expect(judged(pod('Running', ready), two)).toMatchObject({
        passed: false,
        message: expect.stringMatching(/refuses a pod that several budgets cover$/) as string,
      });
    expect(judged(pod('Pending', false), two)).toMatchObject({ passed: true });
  });
});

describe('one of a thing and several', () => {
  it('one sidecar stops, two stop', () => {
    const sidecars = (...names: string[]): Case => ({
      spec: { initContainers: names.map((name) => ({ name, restartPolicy: 'Always' })) },
    });
    expect(findingOf(sidecars('proxy'), 'sidecar-killed')?.message).toMatch(/proxy stops after/);
    expect(findingOf(sidecars('proxy', 'logs'), 'sidecar-killed')?.message).toMatch(/proxy and logs stop after/);
  });

  it('one Service counts, two count', () => {
    const behind = (...services: string[]): Case => ({ facts: { slices: slicesOf(...services) } });
    expect(findingOf(behind('pn'), 'stays-ready')?.message).toMatch(/Service pn counts .* never learns/);
    expect(findingOf(behind('pn', 'pn2'), 'stays-ready')?.message).toMatch(/Services pn and pn2 count .* never learn /);
    expect(findingOf(behind('pn', 'pn2'), 'drain-race')?.message).toMatch(/Services pn and pn2 are still being told/);
  });
});
