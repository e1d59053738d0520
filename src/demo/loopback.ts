import type { IncomingMessage, ServerResponse } from 'node:http';
import { demoClock, type DemoClock, formatStamp, fromMs } from './clock.ts';
import { Playback, type ClusterOptions } from './cluster.ts';
import { type ChangeType, type KubeObject, recordsAt } from './data/kube-object.ts';
import { HttpError } from './data/status.ts';
import { parseApiRequest } from './http/api-request.ts';
import { createExchange, type Call, listen, type HttpServer, type MakeServer } from './http/exchange.ts';
import { truthsInRunTime } from './play/player.ts';
import { serve } from './verbs/serve.ts';
import type { PreparedScenario } from './play/prepare.ts';

export interface LoopbackOptions extends Omit<ClusterOptions, 'clock' | 'firstRevision'> {
  /** Default: any free port. */
  port?: number;
  /** Makes things go wrong between the server and its clients. Default: nothing does. */
  interfere?: (cluster: Playback) => Interference;
  clock?: DemoClock;
  /** Creates the HTTP server. Default: a plain one. */
  makeServer?: MakeServer;
  /** How long after its last step the scenario begins again, with all pods back. Default: never. */
  playAgainAfterMs?: number;
}

export type Loopback = Awaited<ReturnType<typeof startLoopback>>;

/** Starts an API server on 127.0.0.1 that plays one scenario. Rejects if the port is taken. */
export async function startLoopback(options: LoopbackOptions) {
  const { clock = demoClock, interfere = () => undisturbed, playAgainAfterMs } = options;
  let cluster = new Playback({ ...options, clock });
  let interference = interfere(cluster);
  const server = await listen(handle, options.port ?? 0, options.makeServer);
  start();

  async function handle(message: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const { method = 'GET', url = '/', headers } = message;
    const exchange = createExchange(parseApiRequest(method, url, headers, body), response, clock.now);
    try {
      await interference.around(exchange, () => serve(cluster, exchange));
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      exchange.json(error.body.code, error.body, error.headers);
    }
  }

  function start(): void {
    interference.start?.(server);
    renewLeases(cluster);
    if (playAgainAfterMs === undefined) return;
    const playing = cluster;
    void playing.player.played.then(() => playing.sleep(playAgainAfterMs)).then(playAgain);
  }

  /** Cuts open watches, so that their clients list again: their revisions are older than the new run. */
  function playAgain(): void {
    stop();
    cluster = new Playback({ ...options, clock, firstRevision: cluster.log.revision + 1 });
    interference = interfere(cluster);
    for (const socket of server.sockets) socket.destroy();
    start();
  }

  function stop(): void {
    interference.stop?.();
    cluster.stop();
  }

  const url = `http://127.0.0.1:${server.port}`;
  const { namespace, pod } = cluster.scenario;
  return {
    url,
    /** Of the traced pod. */
    namespace,
    pod,
    /** Resolves when everything recorded has happened once. */
    played: cluster.player.played,
    /** A kubeconfig for this server with its context set, as JSON, which is YAML too. */
    kubeconfig: () => kubeconfigText(url, namespace),
    /** What really happened to the traced pod's containers, with times of this run. */
    truth: () => truthsInRunTime(cluster.scenario, cluster.player.moments),
    /** When the deletion of a pod was accepted, in ms. */
    terminatingSince: (name: string) => cluster.terminatingSince[name],
    /** Writes a change from outside the recording, such as chatter; it is stored and watched like any other. */
    write: (resource: string, type: ChangeType, object: KubeObject) => void cluster.write({ resource, type, object }),
    /** Ends every connection and timer. */
    async close(): Promise<void> {
      stop();
      await server.suspend();
    },
  };
}

function kubeconfigText(server: string, namespace: string): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'loopback', cluster: { server } }],
    users: [{ name: 'loopback', user: {} }],
    contexts: [{ name: 'loopback', context: { cluster: 'loopback', user: 'loopback', namespace } }],
    'current-context': 'loopback',
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Sits between the server and its clients, so that tests can make things go wrong there. */
export interface Interference {
  /** Serves a request, or answers in its place. */
  around(exchange: Call, serve: () => Promise<void>): Promise<void>;
  start?(server: HttpServer): void;
  stop?(): void;
}

const undisturbed: Interference = { around: (_, serve) => serve() };

/** Renews a Lease for every node while the recording shows its kubelet alive, until the cluster stops. */
function renewLeases(cluster: Playback): void {
  const { clock, player, scenario } = cluster;
  const nodes = [...cluster.log.current.values()].filter(({ resource }) => resource === 'nodes');
  const silence = silenceOf(scenario);

  function isSilent(): boolean {
    const { begunAt } = player.moments;
    if (silence === undefined || begunAt === undefined) return false;
    const recorded = clock.now() - begunAt + scenario.trigger.at;
    return recorded >= silence.from && recorded < silence.to;
  }

  function renew(): void {
    for (const { object } of isSilent() ? [] : nodes)
      cluster.write({ type: 'MODIFIED', resource: 'leases', object: leaseOf(object, clock.now()) });
    void cluster.sleep(10_000).then(renew); // as often as a kubelet does
  }

  if (nodes.length > 0) renew();
}

/** If the controller declared the node Unknown: from just before the deletion until the node reports again. */
function silenceOf({ steps, trigger }: PreparedScenario): { from: number; to: number } | undefined {
  const reports = steps.filter((step) => step.kind === 'change').filter(({ resource }) => resource === 'nodes');
  const lost = reports.findIndex(({ object }) => readyStatus(object) === 'Unknown');
  const back = reports.find(({ object }, index) => lost >= 0 && index > lost && readyStatus(object) !== 'Unknown');
  return lost < 0 ? undefined : { from: trigger.at - 1_000, to: back?.at ?? Infinity };
}

const readyStatus = (node: KubeObject): unknown =>
  recordsAt(node, 'status.conditions').find(({ type }) => type === 'Ready')?.status;

function leaseOf({ metadata }: KubeObject, now: number): KubeObject {
  const { name, uid, creationTimestamp } = metadata;
  return {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: {
      name,
      namespace: 'kube-node-lease',
      uid: `${uid?.slice(0, 24) ?? '00000000-0000-4000-8000-'}1ea5e0000000`,
      creationTimestamp,
      managedFields: [{ manager: 'kubelet', operation: 'Update', time: formatStamp(fromMs(now), 0) }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: formatStamp(fromMs(now), 6) },
  };
}
