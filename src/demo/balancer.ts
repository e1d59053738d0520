/** What clients of a Service see: a load balancer before the played pods and another one, late to learn of a removal. */
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Loopback } from './loopback.ts';

/** `lateMs`: how long the balancer still sends requests to a pod after its deletion. */
type BalancerOptions = Pick<Loopback, 'truth' | 'terminatingSince'> & { lateMs: number };

export async function startBalancer(options: BalancerOptions): Promise<{ url: string; close(): void }> {
  let turn = 0;
  const podsOf = new WeakMap<Socket, string>();
  const server = createServer(({ socket }, response) => {
    const pod = podsOf.get(socket);
    const isLeaving = pod !== undefined && options.terminatingSince(pod) !== undefined;
    response.writeHead(200, { 'content-type': 'text/plain', connection: isLeaving ? 'close' : 'keep-alive' });
    response.end(`${pod ?? 'another pod'}\n`);
  });
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    // Two connections to each in turn: podexit opens one for new and one for kept connections.
    const pods = [...routedTo(options), undefined];
    const pod = pods[Math.floor(turn++ / 2) % pods.length];
    if (pod === undefined) return;
    if (Date.now() >= signalledAt(pod, options)) socket.resetAndDestroy();
    else podsOf.set(socket, pod);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => void server.close().closeAllConnections() };
}

/** The played pods that the balancer believes to be ready. */
function routedTo({ lateMs, truth, terminatingSince }: BalancerOptions): string[] {
  const pods = [...new Set(truth().map(({ pod }) => pod))];
  return pods.filter((pod) => Date.now() < (terminatingSince(pod) ?? Infinity) + lateMs);
}

/** When the first container of a deleted pod got its stop signal, in ms; Infinity if none did. */
function signalledAt(pod: string, { truth, terminatingSince }: BalancerOptions): number {
  if (terminatingSince(pod) === undefined) return Infinity;
  const signals = truth().flatMap(({ pod: name, stop_signal_sent: sent }) => (name === pod ? (sent ?? []) : []));
  return Math.min(Infinity, ...signals.map((sent) => Date.parse(sent)));
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
