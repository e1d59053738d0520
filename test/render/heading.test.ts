/** The first lines: which grace holds, where more than one was asked for; and the last: what to do next. */
import { describe, expect, it } from 'vitest';
import { headingOf, headingOfReport } from '../../src/render/heading.ts';
import { goOn } from '../../src/render/outcome-text.ts';
import type { ExitReport, Instant, Mark } from '../../src/model/report.ts';
import type { Header } from '../../src/infer/view/header.ts';
import { reportOfRecording } from '../helpers/recordings.ts';
import { blank } from './helpers/sample-reports.ts';

const header = (grace: Header['grace']): Header => ({
  mode: 'delete',
  namespace: 'shop',
  name: 'web-0',
  uid: 'u',
  grace,
  containers: [],
  routes: [],
});

describe('the grace', () => {
  it.each([
    [{ seconds: 10, source: 'spec' }, undefined, 'grace 10s (spec)'],
    [{ seconds: 3, source: 'requested' }, 3, 'grace 3s (requested)'],
    [{ seconds: 3, source: 'requested' }, 10, 'grace 10s (in force; 3s requested)'],
    [{ seconds: 10, source: 'spec' }, 3, 'grace 3s (in force; 10s spec)'],
  ] as const)('%j, with a deletion under way that counts %s s, is told as %s', (grace, inForce, words) =>
    expect(headingOf(header(grace), inForce, undefined).facts).toContain(words),
  );

  it('shorter than the kubelet ever waits is told with that wait, where anything runs', () => {
    const app = { name: 'app', kind: 'container', running: true, preStop: 'no preStop', readiness: '' } as const;
    const forced = header({ seconds: 0, source: 'requested' });
    const words = (containers: Header['containers']) => headingOf({ ...forced, containers }, 0, undefined).facts;
    expect(words([app])).toContain('grace 0s (requested, the kubelet waits 2s)');
    expect(words([{ ...app, running: false }])).toContain('grace 0s (requested)');
  });

  it('of a report is told in the same words', () => {
    const report = blank(10);
    const shortened = { ...report, grace: { ...report.grace, requestedSeconds: 3 } };
    expect(headingOfReport(report, undefined).facts).toContain('grace 10s (spec)');
    expect(headingOfReport(shortened, undefined).facts).toContain('grace 10s (in force; 3s requested)');
  });
});

describe('the containers', () => {
  it('of a report stand as the live heading has them: as the spec does', async () => {
    const names = async (recording: string) =>
      headingOfReport(await reportOfRecording(recording), undefined).rows.map(({ name }) => name);
    expect(await names('native-sidecar')).toEqual(['proxy', 'logs', 'app', 'routes']);
    expect(await names('multi-container')).toEqual(['web', 'worker', 'legacy', 'routes']);
  });
});

describe('what to do next', () => {
  const ended = (outcome: ExitReport['verdict']['outcome'], exitCode: number): ExitReport => {
    const report = blank();
    return { ...report, marks: [accepted], verdict: { ...report.verdict, outcome, exitCode } };
  };
  const stamp = '2026-11-20T23:04:29.612Z';
  const at: Instant = { earliest: stamp, latest: stamp, basis: 'observed', evidence: [] };
  const accepted: Mark = { id: 'accepted', name: 'accepted', at };
  const command = 'kubectl podexit checkout-754699c75f-5qlrp -n shop';

  it.each([
    ['stuck', 3, `go on with: ${command} --attach`],
    ['unknown', 130, `go on with: ${command} --attach`],
    ['not-started', 130, `go on with: ${command} --attach`],
    ['unknown', 4, undefined],
    ['graceful', 0, undefined],
  ] as const)('after %s with exit code %i: %s', (outcome, code, words) =>
    expect(goOn(ended(outcome, code))).toBe(words),
  );

  it('where nobody saw whether the pod is being deleted, it is to be looked for', () =>
    expect(goOn({ ...ended('unknown', 4), marks: [] })).toBe(
      'see whether it is still there: kubectl get pod checkout-754699c75f-5qlrp -n shop',
    ));

  it('where nobody deleted the pod, both ways to an exit are named', () =>
    expect(goOn(ended('not-started', 3))).toBe(
      `have it deleted (a rollout, a drain) while this waits: ${command} --attach; or let podexit delete it: ${command}`,
    ));
});
