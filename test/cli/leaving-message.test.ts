/** After Ctrl-C podexit prints only what is known about the deletion at that moment. */
import { describe, expect, it } from 'vitest';
import { type DeletionProgress, fateOf, deletionProgress } from '../../src/run/ending/leaving.ts';
import type { RequestFacts, Trace } from '../../src/model/trace.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { servingPatiently } from '../helpers/serving-patiently.ts';
import { screenOf } from '../output/helpers/screen.ts';
import { runMain, pressOnce } from './helpers/in-process.ts';

describe('Ctrl-C', () => {
  it('prints two lines at a terminal: what happens to the pod, and the result so far', () =>
    servingPatiently('sigkill-after-grace', {}, async ({ server, flags, asked }) => {
      let isTime = false;
      void asked('delete', 'pods').then(() => (isTime = true));
      const onSignal = pressOnce(() => isTime);
      const ran = await runMain([server.pod, ...flags, '--yes'], { columns: 400, answers: [], onSignal });
      expect(ran.code).toBe(130);
      const screen = await screenOf({ columns: 400, rows: 24 }, [{ kind: 'write', text: ran.stdout }]);
      expect(screen.written.slice(-2)).toEqual([
        expect.stringMatching(/^podexit: SIGINT: pod "\S+" is still terminating; look with: kubectl get pod /),
        '? Interrupted: the pod is still terminating, waiting for app to exit',
      ]);
    }));

  it.each([
    [429, 'SIGINT: the API server throttled the delete of pod "POD" (429)'],
    [503, 'the deletion of pod "POD" was requested, but it is not known whether'],
  ])('after only answers %i does not print that the pod is terminating', (code, sentence) => {
    const faults = [{ kind: 'status', code, retryAfterSeconds: 20, verb: 'delete', resource: 'pods' } as const];
    return servingPatiently('exit-143', { faults }, async ({ server, flags, asked }) => {
      let isTime = false;
      void asked('delete', 'pods').then(() => (isTime = true));
      const onSignal = pressOnce(() => isTime);
      const ran = await runMain([server.pod, ...flags, '-o', 'lines'], { onSignal });
      expect(ran.stderr).toContain(sentence.replace('POD', server.pod));
      expect(ran.stderr).not.toContain('still terminating');
      expect([ran.code, server.deletesAccepted]).toEqual([130, 0]);
    });
  });
});

describe('the progress of a deletion', () => {
  const fact = <T>(value: T) => ({ value, seq: 1, at: 1 });
  const request = (status?: number): RequestFacts => ({
    verb: 'delete',
    graceSeconds: null,
    sent: fact(true),
    ...(status === undefined ? {} : { answer: fact({ status }) }),
  });
  it.each([
    ['not-asked', emptyTrace, false],
    ['asked', emptyTrace, true],
    ['asked', { ...emptyTrace, requests: [request()] }, true],
    ['asked', { ...emptyTrace, requests: [request(429), request()] }, true],
    ['turned-away', { ...emptyTrace, requests: [request(429)] }, true],
    ['under-way', { ...emptyTrace, requests: [request(429), request(200)] }, true],
    ['gone', { ...emptyTrace, requests: [request(200)], gone: fact('deleted') }, true],
  ] as [DeletionProgress, Trace, boolean][])('%s', (stage, trace, requested) => {
    expect(deletionProgress(trace, requested)).toBe(stage);
    const said = fateOf(stage, { namespace: 'shop', name: 'web', connectionFlags: ' --context=far' });
    expect(said.includes('still terminating')).toBe(stage === 'under-way');
    expect(said.includes('kubectl')).toBe(said.includes('web -n shop --context=far'));
  });
});
