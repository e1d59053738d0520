/**
 * Whether anybody else can serve while a pod stops. Only then a preStop sleep helps: without, the slice drops the pod
 * at the DELETE, and what starts the next pod waits until this one is gone (SIGNALS.md §3). Pure.
 */
import { stopsAllAtOnce, surges, type Reasoned } from './capacity.ts';
import { servicesOfClients } from './roles.ts';
import type { Situation } from './situation.ts';

const no = (because: string): Reasoned => ({ answer: 'no', because });
const unknown = (because: string): Reasoned => ({ answer: 'unknown', because });
const yes = (because: string): Reasoned => ({ answer: 'yes', because });

export function othersServe(situation: Situation): Reasoned {
  const { subject, capacity, measured } = situation;
  const { kind } = subject;
  if (situation.isCustom) return unknown('how its controller replaces pods is not known');
  const services = servicesOfClients(situation);
  if (stopsAllAtOnce(kind, capacity)) return no('a rollout stops all its pods at once');
  if (capacity.ownData === 'yes')
    return unknown('each of its pods keeps data of its own, and only the application knows who can answer for it');
  if (capacity.ownData === 'unknown') return unknown('whether its pods keep data of their own is not known here');
  if (kind === 'DaemonSet' && (isOnHostPorts(situation) || services.some(({ isNodeLocal }) => isNodeLocal)))
    return no('clients of a node reach only the pod of that node');
  const ready = services.flatMap(({ otherReady }) => otherReady ?? []);
  const fewest = measured?.otherReady ?? (ready.length > 0 ? Math.min(...ready) : undefined);
  if (fewest !== undefined && fewest > 0) return yes('other endpoints are ready');
  const { replicas } = capacity;
  if (fewest === undefined && replicas !== undefined && replicas > 1) return yes(`it has ${replicas} replicas`);
  if (kind === 'DaemonSet') return unknown('how many nodes it runs on is not known');
  if (kind === 'Pod' || kind === 'Job') return unknown('nothing replaces the pod, and who else serves is not known');
  const inPlace = capacity.inPlace.find(({ answer }) => answer === 'yes');
  if (inPlace) return no(inPlaceText[inPlace.why]);
  if (services.some(({ isShared }) => isShared))
    return unknown('its Service has other pods too, and how many is not known');
  if (measured) return unknown('whether the next pod starts beside this one depends on its strategy and volumes');
  if (surges(capacity) === 'yes') return yes('a rollout starts the next pod first');
  const [perhaps] = capacity.inPlace;
  return perhaps
    ? unknown(inPlaceText[perhaps.why])
    : no('a rollout may stop its only pod before the next one is ready');
}

const isOnHostPorts = ({ capacity: { inPlace } }: Situation): boolean =>
  inPlace.some(({ why }) => why === 'host ports');

const inPlaceText = {
  StatefulSet: 'its StatefulSet starts the next pod only after this one is gone',
  Recreate: 'its strategy Recreate starts the next pod only after this one is gone',
  DaemonSet: 'its DaemonSet starts the next pod of a node only after this one is gone',
  volume: 'its volume may keep the next pod waiting until this one is gone',
  'host ports': 'its host ports may keep the next pod waiting until this one is gone',
} as const;
