/** One report for each kind of exit, after the recordings of the same names. */
import type { ExitReport } from '../../../src/model/report.ts';
import { inferred, mark, observed, phase, time } from './report-parts.ts';

/** What every sample starts from: a pod of a Deployment with a grace of ten seconds, and nothing known yet. */
export function blank(graceSeconds = 10): ExitReport {
  return {
    apiVersion: 'podexit/v1',
    kind: 'ExitReport',
    mode: 'delete',
    pod: {
      namespace: 'shop',
      name: 'checkout-754699c75f-5qlrp',
      uid: '6d9c1b8e-4a3f-4b1e-9c55-0f1d2a7b8c90',
      node: 'node1',
      owner: { kind: 'Deployment', name: 'checkout' },
    },
    grace: {
      requestedSeconds: null,
      specSeconds: graceSeconds,
      effectiveSeconds: graceSeconds,
      deadline: time(graceSeconds),
    },
    trigger: { kind: 'this-command', evidence: [1, 2] },
    marks: [],
    phases: [],
    containers: [],
    endpoints: [],
    verdict: { outcome: 'unknown', exitCode: 4, findings: [], gates: [] },
    clocks: { api: { offsetMs: { min: -6, max: 14 } }, node: { offsetMs: { min: -2, max: 21 } } },
    assumes: [{ name: 'signal-after-killing', seconds: 0.25 }],
    gaps: [],
    observations: [
      { seq: 1, at: time(0), what: 'DELETE sent, uid precondition' },
      { seq: 2, at: time(0.008), what: 'DELETE answered 200: deletionTimestamp, grace 10 s' },
    ],
  };
}

/** graceful-exit: one container. Its stop signal arrived while its endpoint was being removed from the Service. */
export function graceful(): ExitReport {
  const report = blank();
  const requested = observed(0, 0.001, 1);
  const accepted = observed(0.004, 0.008, 2);
  const stopping = observed(0.018, 0.021, 3);
  const signal = inferred(0.019, 0.09, 3, 5);
  const exit = inferred(3.0, 3.2, 6, 7);
  const done = observed(3.2, 3.21, 7);
  const removed = observed(3.91, 3.912, 9);
  return {
    ...report,
    marks: [
      mark('requested', requested, undefined, 'DELETE, uid precondition'),
      mark('accepted', accepted, undefined, 'deadline 23:04:39'),
      mark('stopping', stopping, 'app'),
      mark('stop-signal', signal, 'app', 'no preStop'),
      mark('unrouted', observed(0.024, 0.026, 4), 'checkout-h79lm', 'still serving; 1 other ready'),
      mark('replacement-created', observed(0.03, 0.04, 10), 'checkout-754699c75f-w2k9x'),
      mark('replacement-ready', observed(1.9, 1.912, 11), 'checkout-754699c75f-w2k9x'),
      mark('exited', exit, 'app', 'exit code 0'),
      mark('containers-done', done),
      mark('endpoint-removed', observed(3.214, 3.216, 8), 'checkout-h79lm'),
      mark('final-delete', observed(3.908, 3.91, 9)),
      mark('removed', removed),
    ],
    phases: [
      phase('accept', requested, accepted, 10),
      phase('notice', accepted, stopping, 10),
      phase('route-removal', accepted, observed(0.024, 0.026, 4), 10, 'checkout-h79lm'),
      phase('drain', signal, exit, 10, 'app'),
      phase('cleanup', exit, removed, 10),
    ],
    containers: [
      {
        name: 'app',
        kind: 'container',
        outcome: 'completed',
        stopSignal: { ...signal, signal: 'SIGTERM' },
        exit: { at: exit, code: 0, reason: 'Completed' },
      },
    ],
    endpoints: [
      {
        service: 'checkout',
        slice: 'checkout-h79lm',
        addressType: 'IPv4',
        unroutedAt: observed(0.024, 0.026, 4),
        removedAt: observed(3.214, 3.216, 8),
        otherReady: 1,
      },
    ],
    replacement: {
      name: 'checkout-754699c75f-w2k9x',
      uid: '0a7b8c90-4a3f-4b1e-9c55-6d9c1b8e0f1d',
      createdAt: observed(0.03, 0.04, 10),
      readyAt: observed(1.9, 1.912, 11),
    },
    verdict: {
      outcome: 'graceful',
      exitCode: 0,
      findings: [
        {
          code: 'drain-race',
          severity: 'info',
          message: 'The stop signal came as the endpoint was being unrouted; connections may still have arrived.',
          advice: 'A preStop sleep of 2 s would cover the measured gap.',
          evidence: [3, 4, 5],
        },
      ],
      gates: [{ name: 'max-duration', passed: true, message: 'Gone after 3.9s, at most 10s allowed.' }],
    },
    observations: [
      ...report.observations,
      { seq: 3, at: time(0.021), what: 'Event Killing: Stopping container app' },
      { seq: 4, at: time(0.026), what: 'EndpointSlice checkout-h79lm: ready false, serving true, terminating true' },
      { seq: 5, at: time(0.09), what: 'log line of app, names the stop signal' },
      { seq: 6, at: time(3.15), what: 'log of app ended' },
      { seq: 7, at: time(3.21), what: 'pod MODIFIED: app terminated, exit code 0, phase Succeeded' },
      { seq: 8, at: time(3.216), what: 'EndpointSlice checkout-h79lm: endpoint removed' },
      { seq: 9, at: time(3.912), what: 'pod DELETED' },
      { seq: 10, at: time(0.04), what: 'pod checkout-754699c75f-w2k9x ADDED' },
      { seq: 11, at: time(1.912), what: 'pod checkout-754699c75f-w2k9x MODIFIED: Ready' },
    ],
  };
}

/** multi-container: three containers. The last one was killed at the end of the grace period of 6 s. */
export function killed(): ExitReport {
  const report = blank(6);
  const signal = inferred(0.5, 0.62, 3);
  const workerExit = inferred(0.52, 0.75, 4);
  const webExit = inferred(3.5, 3.8, 5);
  const legacyExit = inferred(6.4, 6.62, 6);
  const kill = inferred(6.4, 6.6, 6);
  return {
    ...report,
    pod: { ...report.pod, name: 'shop-0', owner: { kind: 'StatefulSet', name: 'shop' } },
    marks: [
      mark('requested', observed(0, 0.001, 1)),
      mark('accepted', observed(0.004, 0.009, 2)),
      ...['web', 'worker', 'legacy'].flatMap((name) => [
        mark('stopping', observed(0.49, 0.5, 3), name),
        mark('stop-signal', signal, name),
      ]),
      mark('exited', workerExit, 'worker', 'exit code 143'),
      mark('exited', webExit, 'web', 'exit code 0'),
      mark('kill', kill, 'legacy'),
      mark('exited', legacyExit, 'legacy', 'exit code 137'),
      mark('containers-done', observed(6.7, 6.71, 7)),
      mark('removed', observed(7.4, 7.41, 8)),
    ],
    phases: [
      phase('drain', signal, webExit, 6, 'web'),
      phase('drain', signal, workerExit, 6, 'worker'),
      phase('drain', signal, legacyExit, 6, 'legacy'),
      phase('cleanup', legacyExit, observed(7.4, 7.41, 8), 6),
    ],
    containers: [
      {
        name: 'worker',
        kind: 'container',
        outcome: 'signalled',
        stopSignal: signal,
        exit: { at: workerExit, code: 143 },
      },
      { name: 'web', kind: 'container', outcome: 'completed', stopSignal: signal, exit: { at: webExit, code: 0 } },
      {
        name: 'legacy',
        kind: 'container',
        outcome: 'killed',
        stopSignal: signal,
        kill,
        exit: { at: legacyExit, code: 137, reason: 'Error' },
      },
    ],
    verdict: {
      outcome: 'killed',
      exitCode: 2,
      findings: [
        {
          code: 'killed-at-grace',
          severity: 'error',
          message: 'legacy was killed when its 6s of grace had run out.',
          advice: 'Handle the stop signal, or raise terminationGracePeriodSeconds above the time the work takes.',
          evidence: [6],
        },
        {
          code: 'no-signal-handling',
          severity: 'warning',
          message: 'legacy gave no sign of life between the stop signal and the kill.',
          advice: 'See whether PID 1 is a shell that passes no signals on; start the program with exec.',
          evidence: [3, 6],
        },
      ],
      gates: [
        {
          name: 'max-grace-used',
          passed: false,
          message: '100% of the grace was used, 20% more than the 80% allowed.',
        },
      ],
    },
    observations: [
      ...report.observations,
      { seq: 3, at: time(0.5), what: 'Events Killing for web, worker, legacy' },
      { seq: 4, at: time(0.75), what: 'log of worker ended' },
      { seq: 5, at: time(3.8), what: 'log of web ended' },
      { seq: 6, at: time(6.62), what: 'log of legacy ended' },
      { seq: 7, at: time(6.71), what: 'pod MODIFIED: all containers terminated' },
      { seq: 8, at: time(7.41), what: 'pod DELETED' },
    ],
  };
}

/** native-sidecar: the sidecars get their signal one after the other, after the main container. */
export function sidecars(): ExitReport {
  const report = blank(12);
  const turn = { app: [0.4, 3.5], logs: [3.52, 4.62], proxy: [4.63, 5.76] } as const;
  const at = (name: keyof typeof turn, index: 0 | 1) => inferred(turn[name][index], turn[name][index] + 0.1, 3);
  const names = ['app', 'logs', 'proxy'] as const;
  return {
    ...report,
    marks: [
      mark('requested', observed(0, 0.001, 1)),
      ...names.map((name) => mark('stop-signal', at(name, 0), name)),
      ...names.map((name) => mark('exited', at(name, 1), name, 'exit code 0')),
      mark('removed', observed(6.5, 6.51, 4)),
    ],
    phases: [
      phase('drain', at('app', 0), at('app', 1), 12, 'app'),
      ...(['logs', 'proxy'] as const).flatMap((name) => [
        phase('sidecar-wait', inferred(0.38, 0.4, 3), at(name, 0), 12, name),
        phase('drain', at(name, 0), at(name, 1), 12, name),
      ]),
    ],
    containers: names.map((name) => ({
      name,
      kind: name === 'app' ? 'container' : 'sidecar',
      outcome: 'completed',
      stopSignal: at(name, 0),
      exit: { at: at(name, 1), code: 0 },
    })),
    verdict: { outcome: 'graceful', exitCode: 0, findings: [], gates: [] },
    observations: [
      ...report.observations,
      { seq: 3, at: time(0.4), what: 'Events Killing for app, logs, proxy' },
      { seq: 4, at: time(6.51), what: 'pod DELETED' },
    ],
  };
}

/** finalizer: the finalizer example.com/audit kept the terminated pod. */
export function held(): ExitReport {
  const base = graceful();
  const finalizing = observed(3.91, 3.912, 9);
  const removed = observed(9.47, 9.475, 12);
  return {
    ...base,
    marks: [
      ...base.marks.filter(({ name }) => name !== 'removed'),
      mark('finalizing', finalizing, undefined, 'example.com/audit'),
      mark('removed', removed),
    ],
    phases: [...base.phases, phase('finalize', finalizing, removed, 10)],
    verdict: {
      ...base.verdict,
      findings: [
        {
          code: 'finalizer-held',
          severity: 'warning',
          message: 'The finished pod was held 5.56s by example.com/audit.',
          advice: 'Look at the controller that removes this finalizer.',
          evidence: [9, 12],
        },
      ],
    },
    observations: [...base.observations, { seq: 12, at: time(9.475), what: 'pod DELETED' }],
  };
}

/** force-delete: the object was gone at once, and the container ran for two more seconds. */
export function forced(): ExitReport {
  const report = blank(0);
  const signal = inferred(0.3, 0.4, 4);
  return {
    ...report,
    grace: { ...report.grace, requestedSeconds: 0, specSeconds: 30, effectiveSeconds: 0 },
    marks: [
      mark('requested', observed(0, 0.001, 1)),
      mark('removed', observed(0.008, 0.009, 3)),
      mark('stopping', observed(0.3, 0.31, 4), 'app'),
      mark('stop-signal', signal, 'app'),
      mark('exited', inferred(2.3, 2.45, 5), 'app'),
    ],
    containers: [{ name: 'app', kind: 'container', outcome: 'abandoned', stopSignal: signal }],
    verdict: {
      outcome: 'forced',
      exitCode: 2,
      findings: [
        {
          code: 'force-deleted',
          severity: 'warning',
          message: 'The pod was gone from the API while app still ran, for about 2s more.',
          advice: 'Without --force the API waits until the container is gone.',
          evidence: [3, 5],
        },
        { code: 'unmanaged-pod', severity: 'info', message: 'No controller will replace this pod.', evidence: [] },
      ],
      gates: [],
    },
    observations: [
      ...report.observations,
      { seq: 3, at: time(0.009), what: 'pod DELETED' },
      { seq: 4, at: time(0.31), what: 'Event Killing: Stopping container app' },
      { seq: 5, at: time(2.45), what: 'log of app ended' },
    ],
  };
}

/** pending: no container ran, so none had to be stopped. */
export function removed(): ExitReport {
  const report = blank(30);
  return {
    ...report,
    pod: { namespace: 'shop', name: 'waiting', uid: 'c90' },
    marks: [mark('requested', observed(0, 0.001, 1)), mark('removed', observed(0.009, 0.01, 3))],
    phases: [phase('accept', observed(0, 0.001, 1), observed(0.009, 0.01, 3), 30)],
    containers: [{ name: 'app', kind: 'container', outcome: 'not-running' }],
    verdict: { outcome: 'removed', exitCode: 0, findings: [], gates: [] },
    clocks: {},
    assumes: [],
    observations: [...report.observations, { seq: 3, at: time(0.01), what: 'pod DELETED' }],
  };
}

/** Still terminating at --timeout; the kubelet does not respond. */
export function stuck(): ExitReport {
  const report = blank();
  return {
    ...report,
    mode: 'attach',
    trigger: { kind: 'taint', evidence: [2] },
    marks: [mark('requested', inferred(-1, 0, 2)), mark('node-not-ready', observed(42, 42.1, 3), 'node1')],
    containers: [{ name: 'app', kind: 'container', outcome: 'unknown' }],
    verdict: {
      outcome: 'stuck',
      exitCode: 3,
      findings: [
        {
          code: 'node-silent',
          severity: 'warning',
          message: 'No sign from the kubelet on node1 for at least 130s.',
          advice: 'Look at the node; the pod goes when its kubelet is back, or by a forced delete.',
          evidence: [2, 3],
        },
      ],
      gates: [],
    },
    observations: [...report.observations, { seq: 3, at: time(42.1), what: 'Node node1: Ready Unknown' }],
  };
}

/** Evidence was lost: two streams had gaps, and the exit was not observed. */
export function unknown(): ExitReport {
  const report = blank();
  return {
    ...report,
    trigger: { kind: 'unknown', evidence: [] },
    marks: [mark('requested', observed(0, 0.001, 1)), mark('removed', inferred(2, 64, 3))],
    phases: [phase('drain', inferred(0, 2, 2), inferred(2, 64, 3), 10, 'app')],
    containers: [{ name: 'app', kind: 'container', outcome: 'unknown', stopSignal: inferred(0, 12, 2) }],
    verdict: {
      outcome: 'unknown',
      exitCode: 4,
      findings: [
        {
          code: 'evidence-lost',
          severity: 'warning',
          message: 'The watch of the pod was lost for 62s.',
          evidence: [3],
        },
      ],
      gates: [],
    },
    gaps: [
      { resource: 'pod', from: time(2), to: time(64), cause: 'expired' },
      { resource: 'endpointslices', from: time(0), cause: 'refused' },
    ],
    observations: [...report.observations, { seq: 3, at: time(64), what: 'pod is absent from a list' }],
  };
}
