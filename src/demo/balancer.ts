/**
 * A load balancer on 127.0.0.1 in front of the played pod and another ready pod: what clients of a Service see. Like
 * real ones, it learns of the pod's removal late. The pod refuses connections once it has got its stop signal.
 */
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { RequestLog } from './http/exchange.ts';
import type { Truth } from './scenario.ts';

interface BalancerOptions {
  /** How long the balancer still sends requests to the pod after its deletion, in ms. */
  lateMs: number;
  /** The played pod, as the embedded API server knows it. */
  pod: { name: string; requests: readonly RequestLog[]; truth(): Truth[] };
}

export async function startBalancer({ lateMs, pod }: BalancerOptions): Promise<{ url: string; close(): void }> {
  let turn = 0;
  const podSockets = new WeakSet<Socket>();
  const server = createServer(({ socket }, response) => {
    const isLeaving = podSockets.has(socket) && deletedAt(pod.requests) !== undefined;
    response.writeHead(200, { 'content-type': 'text/plain', connection: isLeaving ? 'close' : 'keep-alive' });
    response.end(podSockets.has(socket) ? `${pod.name}\n` : 'another pod\n');
  });
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    const acceptedAt = deletedAt(pod.requests);
    const stillRoutes = acceptedAt === undefined || Date.now() < acceptedAt + lateMs;
    // Half of the connections go to the pod.
    if (!stillRoutes || ![1, 2].includes((turn += 1) % 4)) return;
    if (Date.now() >= signalledAt(pod)) socket.resetAndDestroy();
    else podSockets.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => void server.close().closeAllConnections() };
}

/** A slice with one ready endpoint: the other pod that answers behind the balancer. */
export const secondEndpoint = (namespace: string, service: string) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: `${service}-other`, namespace, uid: otherUid, labels: { 'kubernetes.io/service-name': service } },
  addressType: 'IPv4',
  endpoints: [
    {
      addresses: ['10.244.1.99'],
      conditions: { ready: true, serving: true, terminating: false },
      targetRef: { kind: 'Pod', namespace, name: `${service}-other`, uid: otherUid },
    },
  ],
});

const otherUid = '5f0c9d3e-0000-4000-8000-000000000099';

/** When the pod's deletion was accepted. */
const deletedAt = (requests: readonly RequestLog[]): number | undefined =>
  requests.find(({ verb, resource, status }) => verb === 'delete' && resource === 'pods' && status === 200)?.at;

/** When the first container of the deleted pod got its stop signal, in ms; Infinity if none did. */
function signalledAt({ requests, truth }: BalancerOptions['pod']): number {
  if (deletedAt(requests) === undefined) return Infinity;
  return Math.min(
    Infinity,
    ...truth().flatMap(({ stop_signal_sent: sent }) => (sent === undefined ? [] : Date.parse(sent))),
  );
}
