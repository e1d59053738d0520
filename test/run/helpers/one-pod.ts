/** A server with one pod whose states the test provides, and a run about it. */
import type { ServerResponse } from 'node:http';
import type { Cluster } from '../../../src/kube/cluster.ts';
import { groupOfOne } from '../../../src/run/group/group.ts';
import type { Clock } from '../../../src/output/ports.ts';
import type { LiveOptions } from '../../../src/run/streams/live-run.ts';
import { liveSource } from '../../../src/run/group/run-live.ts';
import { run } from '../../../src/run/run.ts';
import { tracesOfLog } from '../../../src/run/traces/traces.ts';
import type { Trace } from '../../../src/model/trace.ts';
import { exitReportFrom } from '../../helpers/recordings.ts';
import { bookmark, json, line, serve, status, type Asked } from '../../kube/helpers/api.ts';

const pods = '/api/v1/namespaces/shop/pods';

export interface OnePod {
  url: string;
  asked: Asked[];
  /** Stores the pod's next state and sends it to the watches. */
  now(type: 'MODIFIED' | 'DELETED', metadata?: object): void;
  /** Ends the watches of the pod, as a server does after some minutes. */
  endWatches(): void;
}

export const terminating = () => ({
  deletionTimestamp: new Date(Date.now() + 30_000).toISOString(),
  deletionGracePeriodSeconds: 30,
});

/** `answers` returns true for requests that it handles itself. Other resources stay empty. */
export async function onePod(
  metadata: object,
  answers: (asked: Asked, response: ServerResponse, server: OnePod) => boolean = () => false,
): Promise<OnePod> {
  const watchers = new Set<ServerResponse>();
  let version = 5;
  let isThere = true;
  let own: object = { name: 'web', namespace: 'shop', uid: 'uid-web', ...metadata };
  const pod = () => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { ...own, resourceVersion: String(version) },
    spec: { containers: [{ name: 'app' }], terminationGracePeriodSeconds: 30 },
    status: {},
  });
  const api = await serve((asked, response) => {
    if (answers(asked, response, server)) return;
    const { path, query } = asked;
    const isOfPod = path === pods && query['fieldSelector']?.includes('metadata.name=web');
    if (query['watch'] !== undefined) {
      if (isOfPod) watchers.add(response);
      if (query['sendInitialEvents'] === undefined) return response.flushHeaders();
      response.write((isOfPod && isThere ? line('ADDED', pod()) : '') + bookmark(String(version), true));
    } else if (path === `${pods}/web` && isThere) json(response, 200, pod());
    else if (query['limit'] !== undefined)
      json(response, 200, { kind: 'List', metadata: { resourceVersion: String(version) }, items: [] });
    else json(response, 404, status(404, 'NotFound', 'not found'));
  });
  const server: OnePod = {
    url: api.url,
    asked: api.asked,
    now(type, more = {}) {
      version += 1;
      own = { ...own, ...more };
      isThere = type !== 'DELETED';
      watchers.forEach((response) => response.write(line(type, pod())));
    },
    endWatches: () => watchers.forEach((response) => void (watchers.delete(response) && response.end())),
  };
  return server;
}

/** Runs to the end, with the cluster's clock. */
export async function runOf(cluster: Cluster, options: Partial<LiveOptions>) {
  const { now, setTimeout } = cluster.env;
  const clock: Clock = { now, setTimeout };
  const warnings: string[] = [];
  const live = liveSource({
    cluster,
    clock,
    group: groupOfOne('shop', { name: 'web' }),
    mode: 'delete',
    graceSeconds: null,
    insist: false,
    timeoutMs: null,
    waitReplacement: false,
    followLogs: false,
    warn: (message) => warnings.push(message),
    ...options,
  });
  try {
    const trace: Trace = await run({
      traces: tracesOfLog(),
      source: live.source,
      logText: false,
      onTrace: live.onTrace,
    });
    return { trace, report: exitReportFrom(trace), warnings };
  } finally {
    live.stop();
  }
}
