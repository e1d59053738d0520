/** What was watched before a run is not watched on after it. */
import { expect, it } from 'vitest';
import { connect } from '../../src/cluster/connect.ts';
import { systemClock } from '../../src/session/clock.ts';
import { liveSource } from '../../src/session/live.ts';
import { surroundings } from '../cluster/helpers/surroundings.ts';
import { serving } from '../helpers/serving.ts';

it('a run that ends before it hears all by itself stops it', () =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    const kubeconfig = flags.at(-1) ?? '';
    const cluster = await connect({ kubeconfig, namespace: server.namespace, version: '0.0.0' }, surroundings());
    const metadata = { name: server.pod, namespace: server.namespace, uid: 'u', resourceVersion: '1' };
    const state = { pod: { kind: 'Pod', metadata }, at: Date.now() };
    let stopped = 0;
    const live = liveSource({
      cluster,
      clock: systemClock,
      namespace: server.namespace,
      name: server.pod,
      before: {
        alive: state,
        ending: state,
        since: state.at,
        routes: () => undefined,
        stop: () => void stopped++,
      },
      mode: 'attach',
      graceSeconds: null,
      insist: false,
      timeoutMs: null,
      waitReplacement: false,
      followLogs: true,
      warn: () => {},
    });
    expect(stopped).toBe(0);
    live.stop();
    expect(stopped).toBe(1);
    cluster.close();
  }));
