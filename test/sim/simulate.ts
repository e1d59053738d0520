/** Simulates a story: what a recorder would have written, what really happened, what a trace must conclude. Pure. */
import { openStreams } from './client.ts';
import type { Container } from './container.ts';
import { expectedOf, type Expected } from './expected.ts';
import { gatherFacts, type Facts, noteChangeTimes } from './facts.ts';
import { Kubelet } from './kubelet.ts';
import { applyFault, createNode } from './node.ts';
import { runEndpoints } from './endpoints.ts';
import { createOwner } from './owner.ts';
import type { StopSignal, Story } from './story.ts';
import { doLater, pullTrigger } from './trigger.ts';
import type { Row, Truth } from '../../src/demo/scenarios.ts';
import { nanoseconds } from './virtual-time.ts';
import { createWorld, type World } from './world.ts';

export interface Simulation {
  /** What a recorder beside the cluster would write, line by line. */
  rows: Row[];
  truth: Truth[];
  expected: Expected;
}

/** The pod's age when the recording begins. ms. */
const ageMs = 600_000;

export function simulate(story: Story): Simulation {
  const world = createWorld(story);
  const created = world.clocks.api.seconds(-nanoseconds(ageMs));
  createNode(world, created);
  const owner = createOwner(world, created);
  runEndpoints(world, { app: owner.pod.metadata.labels?.app ?? '' });
  const kubelet = new Kubelet(world, owner.pod);
  const times = noteChangeTimes(world, owner.pod);
  let acceptedAt: number | undefined;
  world.api.on('pods', (change, { metadata }) => {
    if (metadata.uid !== owner.pod.metadata.uid) return;
    if (metadata.deletionTimestamp !== undefined) acceptedAt ??= world.time.now;
    if (change === 'DELETED') world.removed.happen(world.time.now);
  });
  kubelet.begin();
  world.cluster.spawn(openStreams(world, kubelet));
  world.cluster.spawn(pullTrigger(world, owner));
  for (const later of story.later) world.cluster.spawn(doLater(world, later));
  for (const fault of story.faults) world.cluster.spawn(applyFault(world, kubelet, fault));
  world.time.play(nanoseconds(story.limitMs));
  const facts = gatherFacts(world, kubelet, acceptedAt, times);
  const end = Math.min(nanoseconds(story.limitMs), watchedUntil(world, facts) + nanoseconds(story.tailMs));
  const { name: scenario, about } = story;
  const first: Row = { type: 'about', scenario, about, kubernetes: 'v1.36.2', runtime: 'containerd 2.1.9' };
  return {
    rows: [first, ...world.recorder.rows(world.clocks.client, end)],
    truth: truthOf(world, kubelet.containers),
    expected: expectedOf(world, facts),
  };
}

/** The recorder waits for containers that outlive their object, but not longer than the grace period and 2 s. */
function watchedUntil(world: World, facts: Facts): number {
  if (world.removed.at === undefined) return Infinity;
  const exits = facts.containers.map(({ running, truth }) => (running ? Infinity : (truth.exitAt ?? 0)));
  const patience = nanoseconds((Math.max(2, world.story.pod.graceSeconds) + 2) * 1000);
  return Math.max(world.removed.at, Math.min(Math.max(...exits), world.removed.at + patience));
}

/** Signals as the runtime's log names them. */
const signalNames: Record<StopSignal, string> = {
  SIGTERM: 'terminated',
  SIGINT: 'interrupt',
  SIGQUIT: 'quit',
};

/** In the form of the recordings' truth files: nanoseconds of the node's clock. */
function truthOf(world: World, containers: readonly Container[]): Truth[] {
  const print = (at: number): string => world.clocks.node.nanoseconds(at);
  return containers.flatMap(({ story, truth }) => {
    if (truth.requestedAt === undefined) return [];
    const { signalAt, killAt, exitAt, exitCode } = truth;
    return {
      pod: world.story.pod.name,
      container: story.name,
      stop_requested: print(truth.requestedAt),
      timeout_s: truth.timeoutSeconds ?? 0,
      ...(signalAt === undefined ? {} : { stop_signal_sent: print(signalAt), signal: signalNames[story.stopSignal] }),
      ...(killAt === undefined ? {} : { sigkill_sent: print(killAt) }),
      ...(exitAt === undefined ? {} : { exited: print(exitAt), exit_status: exitCode ?? 0 }),
    };
  });
}
