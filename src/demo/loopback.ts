import { systemClock, type Clock } from './clock.ts';
import { createCluster, type Cluster } from './cluster.ts';
import type { ChangeType, KubeObject } from './data/kube-object.ts';
import { compact } from './data/log.ts';
import { Refusal, unauthorized } from './data/status.ts';
import { parseApiRequest, type ApiRequest } from './http/api-request.ts';
import {
  createExchange,
  type RequestLog,
  type Incoming,
  type Outgoing,
  type Exchange,
  type Outbound,
} from './http/exchange.ts';
import { listen, type Tls, type HttpServer } from './http/server.ts';
import { renewLeases } from './play/leases.ts';
import type { Skew } from './play/move.ts';
import { truthsInRunTime } from './play/director.ts';
import type { Scenario, Truth } from './scenario.ts';
import { serve, type Backends } from './verbs/serve.ts';
import type { WatchOptions } from './verbs/watch.ts';

export interface LoopbackOptions {
  scenario: Scenario;
  /** 0, the default, takes any free one. */
  port?: number;
  /** Lets things go wrong between the server and its clients; nothing does where it is absent. */
  interfere?: (cluster: Cluster) => Interference;
  clock?: Clock;
  /** Renames the namespace the scenario was recorded in. */
  namespace?: string;
  tls?: Tls;
  /** Requests without this bearer token are answered with 401. */
  token?: string;
  streamingLists?: WatchOptions['streamingLists'];
  skew?: Skew;
  /** How often a watch that allows bookmarks gets one; a minute, as a real server has it. */
  bookmarkMs?: number;
  /** How long after the first watch of pods a story begins that no DELETE triggers; 1.2 s, as it was recorded. */
  attachDelayMs?: number;
  /** What /version says; v1.36.2, which the scenarios were recorded from. */
  version?: string;
  /** What stands behind the proxies of services and pods. */
  backends?: Backends;
  /** How long after its last event the scenario begins again, with every pod back; never where it is absent. */
  playAgainAfterMs?: number;
}

export interface Loopback {
  readonly url: string;
  /** The namespace of the traced pod. */
  readonly namespace: string;
  /** The traced pod's name. */
  readonly pod: string;
  /** Every request since the start, in order of arrival. */
  readonly requests: readonly RequestLog[];
  /** How many DELETEs and evictions of pods were executed; dry runs and refused ones do not count. */
  readonly deletesAccepted: number;
  /** Resolves when everything recorded has happened once. */
  readonly played: Promise<void>;
  /** A kubeconfig for this server with its context set, as JSON. */
  kubeconfig(): string;
  /** What happened to the traced pod's containers, moved to this run: real time, without any skew. */
  truth(): Truth[];
  /** Writes a change of the caller's own, such as foreign chatter; it is stored and watched like any other. */
  write(resource: string, type: ChangeType, object: KubeObject): void;
  /** Forgets the history: a watch that resumes from before it gets a 410. */
  compact(): void;
  /** Ends every connection and timer. */
  close(): Promise<void>;
}

/** Starts an API server on 127.0.0.1 that plays one scenario. Rejects where the port is taken. */
export async function startLoopback(options: LoopbackOptions): Promise<Loopback> {
  const { clock = systemClock, tls, token } = options;
  const requests: RequestLog[] = [];
  let deletesAccepted = 0;
  const serveOptions = { ...serveOptionsOf(options), accepted: () => void (deletesAccepted += 1) };

  async function handle(message: Incoming, response: Outgoing, body: string, nth: number): Promise<void> {
    const { cluster, interference } = play;
    const { method = 'GET', url = '/', headers } = message;
    const request = parseApiRequest(method, url, headers, body);
    const entry: RequestLog = { ...logEntry(request, url), at: clock.now(), nthOnConnection: nth };
    requests.push(entry);
    response.once('close', () => (entry.endedAt = clock.now()));
    const exchange = createExchange(request, entry, response, { ...interference, date: () => httpDate(cluster) });
    try {
      if (token !== undefined && headers.authorization !== `Bearer ${token}`) throw unauthorized();
      const expiredAs = interference.expiredAs();
      await interference.around(exchange, () => serve(cluster, exchange, { ...serveOptions, expiredAs }));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      exchange.json(error.body.code, error.body, error.headers);
    }
  }

  let play = createPlay(options, clock);
  const server = await listen(handle, options.port ?? 0, tls);
  start(play);

  function start({ cluster, interference }: Play): void {
    interference.start(server);
    play.stopLeases = renewLeases(cluster);
    const { playAgainAfterMs } = options;
    if (playAgainAfterMs !== undefined)
      void cluster.director.played.then(() => cluster.sleep(playAgainAfterMs)).then(again);
  }

  /** Clients that still watch lose their connections, and list again: their revisions are older than the new play. */
  function again(): void {
    stop(play);
    play = createPlay(options, clock, play.cluster.log.revision + 1);
    for (const socket of server.sockets) socket.destroy();
    start(play);
  }

  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${server.port}`;
  const { namespace, pod } = play.cluster.story;
  return {
    url,
    namespace,
    pod,
    requests,
    get deletesAccepted() {
      return deletesAccepted;
    },
    played: play.cluster.director.played,
    kubeconfig: () => kubeconfigText({ url, namespace, token, caPem: tls?.cert }),
    truth: () => truthsInRunTime(play.cluster.story, play.cluster.director.moments),
    write: (resource, type, object) => void play.cluster.write({ resource, type, object }),
    compact: () => compact(play.cluster.log, play.cluster.log.revision),
    async close() {
      stop(play);
      await server.close();
    },
  };
}

function serveOptionsOf(options: LoopbackOptions) {
  const { streamingLists = 'serve', bookmarkMs = 60_000, version = 'v1.36.2', backends } = options;
  return { streamingLists, bookmarkMs, version, backends };
}

/** One playing of the scenario. */
interface Play {
  cluster: Cluster;
  interference: Interference;
  stopLeases: () => void;
}

function createPlay(options: LoopbackOptions, clock: Clock, firstRevision?: number): Play {
  const { skew = {}, attachDelayMs = 1200 } = options;
  const cluster = createCluster({ ...options, clock, skew, attachDelayMs, firstRevision });
  const { interfere = () => undisturbed } = options;
  return { cluster, interference: interfere(cluster), stopLeases: () => {} };
}

function stop({ cluster, interference, stopLeases }: Play): void {
  stopLeases();
  interference.stop();
  cluster.stop();
}

function logEntry(request: ApiRequest, url: string): Omit<RequestLog, 'at' | 'nthOnConnection'> {
  const { method, verb, kind, namespace, name, subresource, body, headers } = request;
  const userAgent = headers['user-agent'] as string | undefined;
  const about = { resource: kind?.plural, namespace, name, subresource };
  return { method, url, verb, body, userAgent, ...about, status: 0, sent: 0, lines: 0 };
}

const httpDate = ({ clock, skew }: Cluster): string => new Date(clock.now() + (skew.apiMs ?? 0)).toUTCString();

type About = Record<'url' | 'namespace', string> & Partial<Record<'token' | 'caPem', string | undefined>>;

/** A kubeconfig for one server, as JSON, which is YAML too. `caPem` is the server's own certificate. */
function kubeconfigText({ url, namespace, token, caPem }: About): string {
  const authority = caPem && Buffer.from(caPem).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'loopback', cluster: { server: url, 'certificate-authority-data': authority } }],
    users: [{ name: 'loopback', user: { token } }],
    contexts: [{ name: 'loopback', context: { cluster: 'loopback', user: 'loopback', namespace } }],
    'current-context': 'loopback',
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** What stands between the server and its clients, so that tests can let things go wrong there. */
export interface Interference extends Pick<Outbound, 'opened' | 'outgoing'> {
  /** Serves a request, or answers in its place. */
  around(exchange: Exchange, serve: () => Promise<void>): Promise<void>;
  /** A 410 for a forgotten revision comes as an ERROR frame, as the watch cache has it, or as the answer's status. */
  expiredAs(): 'frame' | 'status';
  start(server: HttpServer): void;
  stop(): void;
}

/** A server that always answers. */
const undisturbed: Interference = {
  around: (_, serve) => serve(),
  opened: () => {},
  outgoing: (_, line, send) => send(line),
  expiredAs: () => 'frame',
  start: () => {},
  stop: () => {},
};
