/** A live source that stops early leaves no request open, and deletes no other pod. */
import { expect, it, vi } from 'vitest';
import { connect } from '../../src/kube/connect.ts';
import { systemClock } from '../../src/run/clock.ts';
import { groupOfOne, type FoundPod } from '../../src/run/group/group.ts';
import { liveSource } from '../../src/run/streams/live.ts';
import { run } from '../../src/run/run.ts';
import { tracesOfLog } from '../../src/run/traces/traces-of-log.ts';
import { testEnv } from '../kube/helpers/env.ts';
import { serving } from '../helpers/serving.ts';
import type { Serving } from '../helpers/serving.ts';

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 300));

/** The source of a run about the server's pod. */
async function tracing(
  { server, flags }: Pick<Serving, 'server' | 'flags'>,
  pod: Partial<FoundPod> = {},
  mode: 'delete' | 'attach' = 'delete',
) {
  const kubeconfig = flags.at(-1) ?? '';
  const cluster = await connect({ kubeconfig, namespace: server.namespace, version: '0.0.0' }, testEnv());
  const live = liveSource({
    cluster,
    clock: systemClock,
    group: groupOfOne(server.namespace, { name: server.pod, ...pod }),
    mode,
    graceSeconds: null,
    insist: false,
    timeoutMs: null,
    waitReplacement: false,
    followLogs: true,
    warn: () => {},
  });
  return { cluster, live };
}

it('a consumer that throws leaves no request open once the source is stopped', () =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    const { cluster, live } = await tracing({ server, flags });
    const failing = (): never => {
      throw new Error('seen enough');
    };
    const step = (_: unknown, { kind }: { kind: string }): unknown => kind === 'answered' && failing();
    const open = () => server.requests.filter(({ endedAt }) => endedAt === undefined).map(({ url }) => url);
    await expect(
      run({ traces: tracesOfLog(), source: live.source, logText: false, audience: { step }, onTrace: live.onTrace }),
    ).rejects.toThrow('seen enough');
    expect(open()).not.toEqual([]);
    live.stop();
    // Requests sent before the stop may still arrive, on a busy machine much later.
    const quiet = async (): Promise<void> => {
      const asked = server.requests.length;
      await pause();
      expect(open()).toEqual([]);
      expect(server.requests).toHaveLength(asked);
    };
    await vi.waitFor(quiet, { timeout: 60_000 });
    cluster.close();
  }));

it('a pod that has taken the name of the chosen pod is not deleted', () =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    const { cluster, live } = await tracing({ server, flags }, { uid: 'the-one-that-was-chosen' });
    const ran = run({
      traces: tracesOfLog(),
      source: live.source,
      logText: false,
      audience: { step: () => {} },
      onTrace: live.onTrace,
    });
    await expect(ran).rejects.toMatchObject({ code: 'pod.replaced' });
    live.stop();
    expect(server.deletesAccepted).toBe(0);
    cluster.close();
  }));
