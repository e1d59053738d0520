/** What each container of a pod is for: it serves, helps, or is needed by the one that serves; and who else serves. Pure. */
import { mayKeepData, stopsAllAtOnce, surges, type InPlaceReason, type Reasoned } from './capacity.ts';
import type { ContainerSpec } from './container-spec.ts';
import names from './data/names.json' with { type: 'json' };
import type { ServiceSpec } from './neighbours.ts';
import { imageName } from '../programs/rows.ts';
import { signalled } from './problem.ts';
import type { Situation } from './situation.ts';

/** A Job's pods end by themselves, and nothing is asked of them while they stop. */
export const isJob = ({ subject: { kind } }: Pick<Situation, 'subject'>): boolean =>
  kind === 'Job' || kind === 'CronJob';

/** In a pod of helpers only, each is an application. Whatever its name, so is one that clients ask, as far as that is known. */
export function rolesOf(situation: Situation): { applications: ContainerSpec[]; helpers: ContainerSpec[] } {
  const mains = signalled(situation).filter(({ kind }) => kind === 'main');
  // Where clients are known to ask another one, its own probe says nothing about them.
  const isAsked = (one: ContainerSpec): boolean =>
    (one.hasReadinessProbe && !mains.some((one) => servesAny(situation.services, one))) ||
    one.ports.some(({ hostPort }) => hostPort) ||
    servesAny(situation.services, one);
  const isHelper = (one: ContainerSpec): boolean => !isAsked(one) && one.isNamedAsHelper;
  const helpers = mains.every(isHelper) ? [] : mains.filter(isHelper);
  return { applications: mains.filter((one) => !helpers.includes(one)), helpers };
}

const servesAny = (services: readonly ServiceSpec[], container: ContainerSpec): boolean =>
  services.some(({ targetPorts }) => targetPorts.some((port) => serves(container, port)));

export const serves = ({ ports }: ContainerSpec, target: ServiceSpec['targetPorts'][number]): boolean =>
  ports.some(({ name, port, protocol }) => [name, port].includes(target.port) && protocol === target.protocol);

/** Services whose clients could lose requests, by their ports: they send only to ready pods, and are more than a monitoring system. */
export const servicesOfClients = (situation: Situation): ServiceSpec[] =>
  (isJob(situation) ? [] : situation.services)
    .filter((one) => !one.publishNotReadyAddresses && one.clients !== 'metrics-only')
    .map((one) => ({ ...one, targetPorts: one.targetPorts.filter(({ isForMetrics }) => !isForMetrics) }))
    .filter((one) => !isNamedElsewhere(situation, one));

/** A pod without the port's name, which others behind the Service have, is no endpoint: a test that a chart brings, say. */
const isNamedElsewhere = ({ containers }: Situation, { targetPorts, selected = [] }: ServiceSpec): boolean =>
  !targetPorts.some((target) => typeof target.port === 'number' || containers.some((one) => serves(one, target))) &&
  targetPorts.some((target) => selected.some((one) => serves(one, target)));

/** Of clients' Services those that target this container, or a port that no container declares. */
export const servicesTo = (container: ContainerSpec, situation: Situation): ServiceSpec[] =>
  servicesOfClients(situation).filter(
    (one) => servesAny([one], container) || !signalled(situation).some((other) => servesAny([one], other)),
  );

/** Of clients' Services, containers that declare a target port; else applications that declare no ports, which is allowed; else the first. */
export function containersThatServe(situation: Situation): ContainerSpec[] {
  const services = servicesOfClients(situation);
  if (services.length === 0) return [];
  const serving = signalled(situation).filter((one) => servesAny(services, one));
  if (serving.length > 0) return serving;
  const { applications } = rolesOf(situation);
  const undeclared = applications.filter(({ ports }) => ports.length === 0);
  return undeclared.length > 0 ? undeclared : applications.slice(0, 1);
}

/** Nobody needs it while the pod stops, by its name. */
export const onlyReports = ({ name }: ContainerSpec): boolean => new RegExp(names.onlyReports).test(name);

/** Other main containers of the pod, which the serving ones may need, unless they only report. */
export const companionsOf = (situation: Situation, serving: readonly ContainerSpec[]): ContainerSpec[] =>
  signalled(situation).filter((one) => {
    // No request needs what ships logs and traces, or fetches files.
    const ships = [one.name, imageName(one.image)].some((name) => new RegExp(names.ships).test(name));
    return one.kind === 'main' && !onlyReports(one) && !ships && !serving.includes(one);
  });

/** Seconds for which the container certainly keeps running after the deletion, by its hook; undefined if unknown. */
export const hookSecondsOf = ({ hook, measured }: ContainerSpec): number | undefined =>
  !hook || hook.fails || hook.stopsServer
    ? 0
    : hook.sendsOther
      ? undefined
      : (hook.minSeconds ?? measured?.hookSeconds);

const no = (because: string): Reasoned => ({ answer: 'no', because });
const unknown = (because: string): Reasoned => ({ answer: 'unknown', because });
const yes = (because: string): Reasoned => ({ answer: 'yes', because });

/** Whether anybody else can serve while a pod stops. Else a preStop sleep shortens no outage: the next pod starts later too (SIGNALS.md §3). */
export function othersServe(situation: Situation): Reasoned {
  const { subject, capacity, measured } = situation;
  const { kind } = subject;
  if (situation.isCustom) return unknown('how its controller replaces pods is not known');
  if (capacity.accessMode === 'ReadWriteOncePod') return unknown('only one pod at a time can use its volume');
  const services = servicesOfClients(situation);
  const ready = services.flatMap(({ otherReady }) => otherReady ?? []);
  const fewest = measured?.otherReady ?? (ready.length > 0 ? Math.min(...ready) : undefined);
  const { replicas } = capacity;
  const others = fewest ?? (replicas ? replicas - 1 : undefined);
  const isAlone = others !== undefined && others <= 0;
  const stopsAll = stopsAllAtOnce(kind, capacity);
  if ((stopsAll || (isAlone && fewest === undefined)) && services.some(({ isShared }) => isShared))
    return unknown('its Service has other pods too, and how many is not known');
  // Where the next pods start at once, a hook makes the outage no longer.
  const waits = kind !== 'Deployment' || capacity.inPlace.length > 0;
  if (stopsAll) return (waits ? no : unknown)('a rollout stops all its pods at once');
  const perhaps = measured || kind === 'Pod' ? undefined : capacity.inPlace[0];
  const inPlace = capacity.inPlace.find(({ answer }) => answer === 'yes') ?? perhaps;
  if (isAlone && inPlace) return { answer: inPlace.answer === 'yes' ? 'no' : 'unknown', because: inPlaceText(inPlace) };
  const asked = containersThatServe(situation);
  const isAsked = (one: ContainerSpec): boolean => asked.length === 0 || asked.includes(one);
  if (signalled(situation).some((one) => mayKeepData(one, isAsked(one), capacity)))
    return unknown('its pods may keep data of their own, and only the application knows who can answer for it');
  const isLocal = services.some((one) => one.isNodeLocal) && surges(capacity) !== 'yes';
  const isOfNode = isLocal || capacity.inPlace.some(({ why }) => why === 'host ports');
  if (kind === 'DaemonSet' && isOfNode) return no('clients of a node may reach only the pod of that node');
  if (others !== undefined && others > 0)
    return yes(fewest === undefined ? `it has ${replicas} replicas` : 'other endpoints are ready');
  const alone = `${fewest === 0 ? 'no other pod was ready' : 'who else serves is not known'}, and nothing replaces this one`;
  if (kind === 'Pod') return fewest === 0 ? no(alone) : unknown(alone);
  if (measured) return unknown('whether the next pod starts beside this one depends on its strategy and volumes');
  if (surges(capacity) === 'yes') return yes('a rollout starts the next pod first');
  if (!replicas) return unknown('how many pods it will have is not known');
  return unknown('the next pod may not be ready before this one is gone');
}

const inPlaceText = ({ why, answer = 'yes' }: Pick<InPlaceReason, 'why'> & Partial<InPlaceReason>): string =>
  ['StatefulSet', 'Recreate', 'DaemonSet'].includes(why)
    ? `its ${why === 'Recreate' ? 'strategy Recreate' : why} starts the next pod only after this one is gone`
    : `the next pod ${answer === 'yes' ? 'waits' : 'may wait'} for its ${why} until this one is gone`;
