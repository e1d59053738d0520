/** A server of which the pods can be changed, and their watch be refused. */
import { readFileSync } from 'node:fs';
import { failure, HttpError } from '../../../src/demo/data/status.ts';
import type { ChangeType, KubeObject } from '../../../src/demo/data/kube-object.ts';
import type { Playback } from '../../../src/demo/cluster.ts';
import type { Stream } from '../../../src/demo/http/exchange.ts';
import { startLoopback } from '../../../src/demo/loopback.ts';
import { parseScenario } from '../../../src/demo/scenarios.ts';
import { scenarioFile } from '../../helpers/recordings.ts';
import { expireHistory } from '../../sim/faults/at-moment.ts';
import { interceptStreams } from '../../sim/faults/on-line.ts';

export type Changeable = Awaited<ReturnType<typeof startChangeable>>;

/** `eventStatus`: how it answers whoever posts Events. */
export async function startChangeable(eventStatus: number) {
  const posted: string[] = [];
  const text = readFileSync(scenarioFile('rollout-25'), 'utf8');
  const { kind, status, ...template } = podOf(text);
  const streams = new Set<Stream>();
  let refusal: HttpError | undefined;
  let cluster: Playback | undefined;
  const server = await startLoopback({
    scenario: parseScenario(text),
    attachDelayMs: 2 ** 30,
    interfere: (playback) => ({
      async around(call, serve) {
        cluster = playback;
        const { request, json } = call;
        interceptStreams(call, (stream) => void streams.add(stream));
        if (request.method === 'POST' && request.path.endsWith('/events')) {
          posted.push(request.body);
          return json(eventStatus, eventStatus < 300 ? {} : failure(eventStatus, 'Forbidden', 'it is forbidden'));
        }
        if (refusal && request.kind?.plural === 'pods') throw refusal;
        return serve();
      },
    }),
  });
  const write = (type: ChangeType, name: string, uid: string, more: object, now: object = status): void => {
    const metadata = { ...template.metadata, namespace: server.namespace, name, uid, ...more };
    server.write('pods', type, { kind, ...template, metadata, status: now });
  };
  const deleted = (seconds: number) => ({
    deletionTimestamp: new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z'),
    deletionGracePeriodSeconds: seconds,
  });
  const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const ended = (exitCode: number): object => {
    const terminated = { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt: at, finishedAt: at };
    const containerStatuses = status.containerStatuses.map((one) => ({ ...one, ready: false, state: { terminated } }));
    return { ...status, phase: exitCode === 0 ? 'Succeeded' : 'Failed', containerStatuses };
  };
  return {
    ...server,
    create: (name: string, uid = name) => write('ADDED', name, uid, {}),
    terminate: (name: string, uid = name, seconds = 30) => write('MODIFIED', name, uid, deleted(seconds)),
    remove: (name: string, uid = name, exitCode = 0) =>
      write('DELETED', name, uid, { ...deleted(30), deletionGracePeriodSeconds: 0 }, ended(exitCode)),
    posted,
    /** A selector matches it no longer: the server sends DELETED with its last state that matched. */
    leave: (name: string, seconds: number) => write('DELETED', name, name, deleted(seconds)),
    /** The pods' watch breaks, and cannot come back. */
    lose(why = failure(500, '', 'the disk is full')) {
      refusal = new HttpError(why);
      for (const { exchange } of streams) if (exchange.request.kind?.plural === 'pods') exchange.cut();
    },
    /** It can come back, but the history is gone. */
    restore() {
      write('ADDED', 'later', 'later', {});
      if (cluster) expireHistory(cluster);
      refusal = undefined;
    },
  };
}

type RunningPod = KubeObject & { status: { containerStatuses: { ready: boolean }[] } };

/** A running pod of the recording, as it was before its deletion. */
function podOf(text: string): RunningPod {
  const objects = parseScenario(text).rows.flatMap((row) =>
    row.type === 'watch' ? [row.event.object as RunningPod] : [],
  );
  const pod = objects.find(({ kind, status }) => kind === 'Pod' && status.containerStatuses?.[0]?.ready);
  if (!pod) throw new Error('the recording has no such pod');
  const { deletionTimestamp: _, deletionGracePeriodSeconds: _seconds, ...metadata } = pod.metadata;
  return { ...pod, metadata };
}
