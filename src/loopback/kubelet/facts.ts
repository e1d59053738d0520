/** What the storyteller knows in the end; all times true, in ns since the beginning. */
import { Clock } from './clock.ts';
import type { Container } from './container.ts';
import type { InstantName, TrueInstant } from './expected.ts';
import type { HookTruth } from './hook.ts';
import type { Kubelet } from './kubelet.ts';
import type { World } from './world.ts';

export interface Facts {
  containers: readonly Container[];
  hooks: ReadonlyMap<string, HookTruth>;
  noticedAt?: number;
  acceptedAt?: number;
  finishedAt?: number;
  finalDeleteAt?: number;
  removedAt?: number;
  /** Effective, of the first attempt. */
  grace?: number;
  attempts: number;
  /** The trigger's evidence is complete. */
  deletedByTrigger: boolean;
  ranAtFirst: (container: Container) => boolean;
  dropped: (reason: string) => boolean;
  /** The machine went away with all that ran on it. */
  nodeGone: boolean;
  instants: TrueInstant[];
}

export function gatherFacts(world: World, kubelet: Kubelet, acceptedAt: number | undefined): Facts {
  const { story, triggerAt, removed } = world;
  const { noticedAt, finishedAt, finalDeleteAt, grace, hooks, containers, attempts } = kubelet;
  const known = { noticedAt, acceptedAt, finishedAt, finalDeleteAt, removedAt: removed.at, grace };
  const byUs = ['this-command', 'eviction-api'].includes(story.trigger.kind);
  const instants: TrueInstant[] = [];
  const tell = (name: InstantName, at: number | undefined, subject?: string): void => {
    if (at === undefined) return;
    const reference = new Clock({ offsetMs: 0, driftPpm: 0 }, story.beganAt);
    const { client, node } = world.clocks;
    const on = { trueTime: reference.nanoseconds(at), client: client.nanoseconds(at), node: node.nanoseconds(at) };
    instants.push({ name, ...(subject === undefined ? {} : { subject }), ...on });
  };
  if (byUs) tell('requested', triggerAt);
  tell('accepted', acceptedAt);
  tell('noticed', noticedAt);
  for (const { story: container, truth } of containers) {
    const hook = hooks.get(container.name);
    tell('prestop-start', hook?.startAt, container.name);
    tell('prestop-end', hook?.endAt, container.name);
    tell('stop-signal', truth.signalAt, container.name);
    tell('kill', truth.killAt, container.name);
    tell('exited', truth.exitAt, container.name);
  }
  tell('final-delete', finalDeleteAt);
  tell('removed', removed.at);
  return {
    containers,
    hooks,
    ...known,
    attempts,
    deletedByTrigger: story.events.dropped.length === 0,
    ranAtFirst: (one) => story.pod.state === 'running' && one.story.state.kind === 'running',
    dropped: (reason) => story.events.dropped.includes(reason) || story.trigger.kind === 'namespace-deletion',
    nodeGone: story.trigger.kind === 'pod-gc',
    instants,
  };
}
