/** What a check forecasts, over facts alone. */
import { describe, expect, it } from 'vitest';
import { narrowPod } from '../../src/trace/observe/pod.ts';
import type { ExitReport, FindingCode } from '../../src/trace/report.ts';
import type { CheckFacts } from '../../src/verdict/check/facts.ts';
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
