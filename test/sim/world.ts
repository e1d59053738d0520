/** What all actors of a story share. */
import { ApiServer } from './api-server.ts';
import { Clock } from './clock.ts';
import { Random } from './random.ts';
import { Recorder } from './rows.ts';
import type { ClockName, Span, Story } from './story.ts';
import { Host, Moment, VirtualTime, nanoseconds } from './virtual-time.ts';

export interface World {
  story: Story;
  random: Random;
  time: VirtualTime;
  clocks: Record<ClockName, Clock>;
  recorder: Recorder;
  api: ApiServer;
  /** Clients and the simulation itself: this host neither dies nor freezes. */
  cluster: Host;
  /** The controllers of the controller manager. */
  controllers: Host;
  /** ns: Events are refused until then. */
  eventsRefusedUntil: number;
  /** Containers run here, whatever happens to the kubelet. */
  node: Host;
  /** Calls to the runtime: they die with the kubelet that made them, but continue while it is frozen. */
  runtime: Host;
  kubelet: Host;
  /** New pods start here; this host freezes with the kubelet. */
  starter: Host;
  /** ns: the time of the trigger. */
  triggerAt: number;
  /** Happens when the pod's object is gone. */
  removed: Moment;
}

export function createWorld(story: Story): World {
  const time = new VirtualTime();
  const random = new Random(story.seed);
  const recorder = new Recorder(time);
  const clock = (name: ClockName): Clock => new Clock(story.clocks[name], story.beganAt);
  const clocks = { api: clock('api'), node: clock('node'), controller: clock('controller'), client: clock('client') };
  return {
    story,
    random,
    time,
    clocks,
    recorder,
    api: new ApiServer({ time, clock: clocks.api, random, recorder, watchMs: story.network.watchMs }),
    cluster: new Host(time),
    controllers: new Host(time),
    eventsRefusedUntil: 0,
    node: new Host(time),
    runtime: new Host(time),
    kubelet: new Host(time),
    starter: new Host(time),
    triggerAt: nanoseconds(story.trigger.atMs),
    removed: new Moment(),
  };
}

export const draw = (world: World, [low, high]: Span): number => (low === high ? low : world.random.between(low, high));

/** ms from now until `atMs` after the trigger. */
export const fromTrigger = (world: World, atMs: number): number => (world.triggerAt - world.time.now) / 1e6 + atMs;
