/** After Ctrl-C podexit prints only what is known about the deletion at that moment. */
import { describe, expect, it } from 'vitest';
import type { Fault } from '../sim/faults/fault.ts';
import type { DeletionProgress } from '../../src/run/ending/leaving.ts';
import { fateOf, deletionProgress } from '../../src/run/ending/leaving.ts';
import type { RequestFacts, Trace } from '../../src/model/trace.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import type { Loopback } from '../../src/demo/loopback.ts';
import { serving } from '../helpers/serving.ts';
import { screenOf } from '../output/helpers/screen.ts';
import { runMain } from './helpers/in-process.ts';

const deletes = { verb: 'delete', resource: 'pods' } as const;
const deletesOf = (server: Loopback): number => server.requests.filter(({ verb }) => verb === 'delete').length;

/** Runs until `when` is true, then interrupts. */
async function interruptedWhen(
  name: string,
  faults: Fault[],
  when: (server: Loopback) => boolean,
  terminal: { words: string[]; columns?: number; answers?: string[] } = { words: ['-o', 'lines'] },
) {
  const { words, ...window } = terminal;
  return serving(name, { faults }, async ({ server, flags }) => {
    let leave = (): void => {};
    const ran = await runMain([server.pod, ...flags, ...words], {
      ...window,
      onSignal: (listener) => {
        const poll = setInterval(() => {
          if (!when(server)) return;
          clearInterval(poll);
          leave();
        }, 10);
        leave = () => listener('SIGINT');
        return () => clearInterval(poll);
      },
    });
    return { ...ran, pod: server.pod, accepted: server.deletesAccepted };
  });
}

const msAfter = (check: (server: Loopback) => boolean, ms: number) => {
  let since: number | undefined;
  return (server: Loopback): boolean => {
    if (check(server)) since ??= performance.now();
    return since !== undefined && performance.now() - since > ms;
  };
};

describe('Ctrl-C', () => {
  it('prints two lines at a terminal: what happens to the pod, and the result so far', async () => {
    const ran = await interruptedWhen(
      'sigkill-after-grace',
      [],
      msAfter((server) => server.deletesAccepted > 0, 800),
      { words: ['--yes'], columns: 400, answers: [] },
    );
    expect(ran.code).toBe(130);
    const screen = await screenOf({ columns: 400, rows: 24 }, [{ kind: 'write', text: ran.stdout }]);
    expect(screen.written.slice(-2)).toEqual([
      expect.stringMatching(/^podexit: SIGINT: pod "\S+" is still terminating; look with: kubectl get pod /),
      '? Interrupted: the pod is still terminating, waiting for app to exit',
    ]);
  });

  it('during throttling (429) prints that the delete was throttled, not that the pod is terminating', async () => {
    const busy: Fault = { kind: 'status', code: 429, retryAfterSeconds: 20, ...deletes };
    const ran = await interruptedWhen(
      'exit-143',
      [busy],
      msAfter((server) => deletesOf(server) > 0, 300),
    );
    expect(ran.stderr).toContain(`SIGINT: the API server throttled the delete of pod "${ran.pod}" (429)`);
    expect(ran.stderr).not.toContain('still terminating');
    expect(ran).toMatchObject({ code: 130, accepted: 0 });
  });

  it('after only 503 answers prints that the state is unknown', async () => {
    const failing: Fault = { kind: 'status', code: 503, retryAfterSeconds: 20, ...deletes };
    const ran = await interruptedWhen(
      'exit-143',
      [failing],
      msAfter((server) => deletesOf(server) > 0, 300),
    );
    expect(ran.stderr).toContain(`the deletion of pod "${ran.pod}" was requested, but it is not known whether`);
    expect(ran.stderr).not.toContain('still terminating');
    expect(ran).toMatchObject({ code: 130, accepted: 0 });
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
