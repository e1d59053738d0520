/** The recorder: lists, watches, follows logs and sends requests, on its own clock. */
import { listLease } from './node.ts';
import type { Kubelet } from './kubelet.ts';
import { resources, type Json } from './rows.ts';
import type { ContainerStory } from './story.ts';
import { sleep, type Process } from './virtual-time.ts';
import { draw, type World } from './world.ts';

const requestStream = 'recorder';

export interface Answer {
  status: number;
  body: Json;
}

/** Sends a request and records its response; `act` runs when the request arrives at the server. */
export function* send(world: World, method: string, path: string, body: Json, act: () => Answer): Process {
  world.recorder.send(requestStream, 0, { type: 'request', method, path, body });
  yield sleep(draw(world, world.story.network.requestMs));
  const answer = act();
  const date = world.clocks.api.httpDate(world.time.now);
  yield sleep(draw(world, world.story.network.requestMs));
  const { status, body: answered } = answer;
  world.recorder.send(requestStream, 0, { type: 'response', method, path, status, date, body: answered });
}

export const podPath = (world: World): string => `/api/v1/namespaces/${world.story.name}/pods/${world.story.pod.name}`;

export const status = (code: number, details: Json = {}): Answer => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', ...details },
});

/** Lists everything, opens the watches, then the logs. */
export function* openStreams(world: World, kubelet: Kubelet): Process {
  for (const resource of resources) {
    yield sleep(world.random.between(1, 2));
    const list = world.api.list(resource);
    const date = world.clocks.api.httpDate(world.time.now);
    yield sleep(world.random.between(1, 2));
    world.recorder.send(requestStream, 0, {
      type: 'list',
      resource,
      path: `/api/v1/namespaces/${world.story.name}/${resource}`,
      date,
      list,
    });
  }
  listLease(world);
  world.api.startWatches();
  world.recorder.send(requestStream, 0, { type: 'ready' });
  yield sleep(world.random.between(3, 8));
  for (const { story, running } of kubelet.containers) {
    if (!story.logged) continue;
    const about = { pod: world.story.pod.name, container: story.name };
    const stream = `log/${story.name}`;
    world.recorder.send(stream, 0, { type: 'log-open', ...about, status: logStatus(world, story) });
    if (logStatus(world, story) === 200 && story.app.bootLine !== undefined) {
      const line = `${world.clocks.node.nanoseconds(world.time.now - 50e9)} ${story.app.bootLine}`;
      world.recorder.send(stream, 1, { type: 'log', ...about, line });
    }
    if (!running) world.recorder.send(stream, 1, { type: 'log-end', ...about });
  }
  kubelet.followLogs();
}

/** Nothing has run yet: refused; no node to ask: empty. */
function logStatus({ story: { pod } }: World, container: ContainerStory): number {
  if (pod.state === 'unscheduled') return 204;
  return pod.state === 'never-started' || container.state.kind === 'waiting' ? 400 : 200;
}
