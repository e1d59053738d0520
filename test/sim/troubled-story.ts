/** Stories of a cluster in trouble, and of several pods on one node: seen in real clusters, not in random stories. */
import { Random } from './random.ts';
import { randomStory } from './random-story.ts';
import type { FaultStory, Story } from './story.ts';

/** `api-overloaded`: changes arrive later than the assumption `delivery-lag` allows. */
export const troubles = [
  'controllers-paused',
  'api-busy',
  'api-overloaded',
  'events-refused',
  'freeze-in-hook',
] as const;
export type Trouble = (typeof troubles)[number];

/** The random story of this seed, with the cluster in this trouble. */
export function troubledStory(seed: number, trouble: Trouble): Story {
  const story = randomStory(seed);
  const random = new Random(seed * 31 + troubles.indexOf(trouble));
  const fault = faultOf(random, trouble);
  const containers =
    trouble === 'freeze-in-hook'
      ? story.containers.map((one) => ({ ...one, preStop: { kind: 'sleep' as const, seconds: random.whole(2, 6) } }))
      : story.containers;
  return { ...story, containers, name: `${trouble}-${seed}`, later: [], faults: [fault], tailMs: 8000 };
}

function faultOf(random: Random, trouble: Trouble): FaultStory {
  switch (trouble) {
    // From before the deletion, sometimes until after the end of the recording.
    case 'controllers-paused':
      return { kind: trouble, atMs: -1000, forMs: random.chance(0.5) ? null : random.between(2000, 20_000) };
    case 'api-busy':
      return busy(random, random.between(500, 2400));
    case 'api-overloaded':
      return busy(random, random.between(2600, 5000));
    case 'events-refused':
      return { kind: trouble, atMs: random.between(-800, 1000), forMs: random.between(2000, 15_000) };
    case 'freeze-in-hook':
      return { kind: 'freeze', atMs: random.between(200, 2000), forMs: random.between(2000, 8000) };
  }
}

const busy = (random: Random, lagMs: number): FaultStory => ({
  kind: 'api-busy',
  atMs: random.between(-800, 500),
  forMs: random.between(3000, 30_000),
  lagMs: [lagMs * 0.7, lagMs],
});

/** Several pods on one node that end at about the same time, with the same API server, node clock and client. */
export function storiesOfOneNode(seed: number, pods: number): Story[] {
  const first = randomStory(seed);
  return Array.from({ length: pods }, (_, index) => {
    const story = randomStory(seed * 1000 + index);
    const { clocks, beganAt, kubelet, runtime, network } = first;
    const trigger = { ...story.trigger, atMs: first.trigger.atMs + index * 150 };
    const pod = { ...story.pod, name: `${story.pod.name}-${index}` };
    return { ...story, clocks, beganAt, kubelet, runtime, network, trigger, pod };
  });
}
