/** The one place that decides what to change, by the laws in docs/before-and-after.md "What fix may change". Pure. */
import { stopBehaviour } from '../programs/stop-behaviour.ts';
import { list } from '../verdict/words.ts';
import { reasonsIn, startsFirst, surges } from './capacity.ts';
import type { ContainerSpec, Path } from './container-spec.ts';
import type { Edit } from './fix/edit.ts';
import { limitText, defaultGraceSeconds, defaultPreStopSeconds, drainBeside, graceSize, isHeavyHook } from './sizes.ts';
import { isProblem, signalled, type CheckCode, type Problem } from './problem.ts';
import { companionsOf, containersThatServe, hookSecondsOf, othersServe, servicesOfClients } from './roles.ts';
import { handlingOf, stopSignalOf } from './rules/stop.ts';
import type { Situation } from './situation.ts';

/** What only the user can decide, because more pods or another strategy may do harm. */
export type Consent = 'replicas' | 'strategy';

export interface Remedy {
  readonly solves: readonly Problem[];
  /** What to do, a clause: `preStop sleep 10s and grace period 25s (10s preStop + 10s grace today + 25%)`. */
  readonly text: string;
  /** The edits that belong together; empty: only a person can do it. */
  readonly edits: readonly Edit[];
  /** What it costs, and what it needs: sentences without their full stop. */
  readonly costs?: string;
  readonly presupposes?: string;
  /** It helps only once these are solved, so it is no patch yet. */
  readonly after?: readonly Problem[];
  readonly consent?: Consent;
}

/** The remedies in the order in which they help: the signal first. */
export function remediesFor(situation: Situation, problems: readonly Problem[]): Remedy[] {
  const found = problems.filter(isProblem);
  const plan: Plan = { situation, problems: found };
  const sizes = hookAndGrace(plan);
  // Why there is no patch of sizes is said after what can be done.
  const [ahead, behind] = sizes.some(({ edits }) => edits.length > 0) ? [sizes, []] : [[], sizes];
  const planned = [...ahead, ...second(plan), ...strategy(plan)];
  const solved = new Set([...planned, ...behind].flatMap(({ solves }) => solves));
  const byHand = found.flatMap((problem) => {
    const clause = problem.advice?.replace(/\.$/, '').replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
    return clause === undefined || solved.has(problem) ? [] : inWords([problem], clause);
  });
  const isFirst = ({ solves }: Remedy): boolean => solves.some(({ code }) => signalCodes.test(code));
  const all = [...byHand.filter(isFirst), ...planned, ...byHand.filter((one) => !isFirst(one)), ...behind];
  // A patch of a custom resource would replace its whole list of containers, and an old version lacks fields of it.
  return situation.isCustom || situation.isOfOldVersion ? all.map((one) => ({ ...one, edits: [] })) : all;
}

export const editsOf = (remedies: readonly Remedy[], allowed: readonly Consent[] = []): Edit[] =>
  remedies
    .filter(({ after, consent }) => !after && (consent === undefined || allowed.includes(consent)))
    .flatMap(({ edits }) => edits);

/** What the remedies say about a problem, as a sentence. */
export function adviceFor(problem: Problem, remedies: readonly Remedy[]): string | undefined {
  const own = remedies.filter(({ solves }) => solves.includes(problem));
  const clauses = own.map(({ text, after }) => (after ? `once its signal is handled: ${text}` : text));
  // A field keeps its spelling.
  const text = clauses.join('; ').replace(/^(?!preStop|maxSurge)./, (first) => first.toUpperCase());
  return own.length === 0 ? undefined : `${text}.`;
}

interface Plan {
  readonly situation: Situation;
  readonly problems: readonly Problem[];
}

const signalCodes = /^(no-signal-handl(ing|er)|shell-as-pid-1|stop-signal-mismatch)$/;

/** What its signal ends at once gets no SIGKILL, so that a hook delays none: it serves until traffic stops. */
const isUnhandled = (situation: Situation, { code, container, path }: Problem): boolean =>
  signalCodes.test(code) &&
  !path.includes('preStop') &&
  !situation.containers.some((one) => one.name === container && handlingOf(situation, one).kind === 'cuts');

const of = ({ problems }: Plan, ...codes: CheckCode[]): Problem[] =>
  problems.filter(({ code }) => codes.includes(code));

const graceIn = ({ problems }: Plan): Problem[] => problems.filter(({ code }) => graceCodes.test(code));

const set = (path: Path, value: unknown, why: string): Edit => ({ path, value, why });

const inWords = (solves: readonly Problem[], text: string): Remedy[] =>
  solves.length === 0 ? [] : [{ solves, text, edits: [] }];

const graceField = 'terminationGracePeriodSeconds';

/** Hooks that serving containers and their companions need, and the grace period for all of them: one patch. */
function hookAndGrace(plan: Plan): Remedy[] {
  const { situation } = plan;
  if (situation.specGraceSeconds === 0) return noGrace(plan);
  const { solves, sentences, stuck, free = [], ...sleeps } = hooksFor(plan);
  const graceProblems = graceIn(plan).filter(({ advice }) => advice === undefined);
  const isAdded = sleeps.on.length > 0;
  const isForClients = solves.some(({ code }) => code !== 'companion-stops-first');
  const cut = graceProblems.find(({ code }) => code === 'prestop-cut-off')?.container;
  const isOpen = signalled(situation).some(({ name, hook }) => name === cut && hook && hook.minSeconds === undefined);
  const { answer, because } = othersServe(situation);
  const isVain = cut !== undefined && answer === 'no' && servicesOfClients(situation).length > 0;
  const why = isOpen ? 'how long it needs is not known' : `it shortens no outage, as ${because}`;
  const tooLong = `shorten the preStop hook of ${cut}: ${why}`;
  if (isVain || (!isAdded && isOpen)) return [...sentences, ...inWords([...solves, ...graceProblems], tooLong)];
  const grace = isAdded || graceProblems.length > 0 ? graceFor(situation, sleeps) : undefined;
  const { limit, sum, seconds: graceSeconds = 0, least = 0 } = grace ?? {};
  const { specGraceSeconds = defaultGraceSeconds } = situation;
  // A limit caps the grace period, not a hook that leaves enough time to stop.
  const isUnfit = limit !== undefined && least > limit.seconds;
  const isEnough = isUnfit || graceSeconds <= specGraceSeconds || (limit && least <= specGraceSeconds);
  const longer = isEnough ? undefined : `grace period ${graceSeconds}s (${sum})`;
  const slow = [...new Set(graceProblems.flatMap(({ container }) => container ?? []))];
  const isOfHook = graceProblems.some(({ code }) => code.startsWith('prestop-'));
  const stop = slow.length > 0 ? `make ${list(slow)} stop ` : undefined;
  const sooner = limit ? `${limitText(limit)}: ${stop ?? 'stop '}within that` : stop && `${stop}sooner`;
  const rest = longer || sooner === undefined ? [] : inWords(graceProblems, sooner);
  if (!isAdded && !longer) return [...sentences, ...rest];
  const solved = [...solves, ...(longer ? graceProblems : [])];
  const others = free.length > 0 && `preStop sleep ${sleeps.seconds}s on ${list(free)}`;
  const also = [others, longer].filter(Boolean).join(' and ');
  const open = stuck && (also ? `${stuck}; with it ${also}` : stuck);
  const byHand = isUnfit ? `a preStop sleep of ${sleeps.seconds}s does not fit: ${sum}` : open;
  if (byHand !== undefined) return [...sentences, ...rest, ...inWords(solved, byHand)];
  const hook = `preStop sleep ${sleeps.seconds}s${sleeps.on.length > 1 ? ` on ${list(sleeps.on)}` : ''}`;
  const shorter = isOfHook ? '; or shorten that hook' : '';
  const until = ', to keep serving until traffic stops; adjust the sleep to your load balancer';
  const toServe = situation.measured?.hookSeconds ? ', which covers what was measured' : until;
  const adjust = !isAdded ? shorter : isForClients ? toServe : ', as long as what needs them';
  const beside = isAdded && isReplacedBeside(situation) ? '; only if two pods may run side by side' : '';
  const all = Math.max(situation.graceSeconds, longer ? graceSeconds : 0);
  // Hook and grace period would only delay the SIGKILL of an application that does not handle its signal.
  const unhandled = plan.problems.filter((one) => isUnhandled(situation, one));
  const hanging = `one that ignores its signal ${all}s; it holds its resources as long`;
  const remedy: Remedy = {
    solves: solved,
    text: `${[isAdded && hook, longer].filter(Boolean).join(' and ')}${adjust}${beside}`,
    edits: [
      ...hookEdits(situation, sleeps),
      ...(longer && sum ? [set([...situation.podPath, graceField], graceSeconds, sum)] : []),
    ],
    costs: isAdded
      ? `each pod takes ${sleeps.seconds}s longer to stop, and ${hanging}`
      : `a pod that hangs is killed only after ${all}s`,
    presupposes: isAdded ? hookNeeds(situation, sleeps) : undefined,
    after: unhandled.length > 0 ? unhandled : undefined,
  };
  return [...sentences, ...rest, remedy];
}

/** Nobody writes a grace period of 0 by accident, and with it no hook runs. */
function noGrace(plan: Plan): Remedy[] {
  const hooks = of(plan, 'drain-race', 'requests-lost', 'prestop-failed', 'companion-stops-first');
  const unsafe =
    plan.situation.subject.kind === 'StatefulSet' ? ', which Kubernetes calls unsafe for a StatefulSet' : '';
  const text = `a grace period of 0 is a decision: keep it if its containers may be cut off at any time${unsafe}, and else remove ${graceField}, which is 30s by default`;
  const none = 'with a grace period of 0 no preStop hook runs';
  return [...inWords(graceIn(plan), text), ...inWords(hooks, none)];
}

/** Sleeps of the same length end together, and with them what the serving container may need. */
function hookNeeds(situation: Situation, { on }: Sleeps): string {
  const others = companionsOf(situation, containersThatServe(situation)).filter(({ name }) => on.includes(name));
  const together = `; requests that end within the sleep, after which ${list(others.map(({ name }) => name))} may stop first (not as a native sidecar)`;
  return `Kubernetes 1.30 or later, which has sleep hooks${others.length > 0 ? together : ''}`;
}

const isReplacedBeside = ({ capacity }: Situation): boolean =>
  (capacity.replicas ?? 1) === 1 && surges(capacity) === 'yes';

/** The preStop sleeps to set, and on which containers; none: 0 seconds. */
type Sleeps = Readonly<{ seconds: number; on: readonly string[] }>;

/** `sentences`: what no sleep solves, and why. `stuck`: what a person must do first; `free`: where that is not so. */
function hooksFor(plan: Plan) {
  const { situation } = plan;
  const late = lateStops(plan).filter((one) => !second(plan).some(({ solves }) => solves.includes(one)));
  const early = of(plan, 'companion-stops-first');
  const why = whyNoHook(plan);
  const sentences = why === undefined ? [] : inWords(late, why);
  const solves = [...(why === undefined ? late : []), ...early];
  if (solves.length === 0) return { seconds: 0, on: [], solves, sentences };
  const serving = containersThatServe(situation);
  const raced = situation.containers.filter(({ name }) =>
    solves.some((one) => late.includes(one) && one.container === name),
  );
  const wanted = why === undefined && late.length > 0 ? (situation.measured?.hookSeconds ?? defaultPreStopSeconds) : 0;
  // The API takes whole seconds; a measured hook has others.
  const planned = raced.map(({ hook }) => (hook?.fails && hook.plannedSeconds) || 0);
  const hooks = [...raced, ...serving].map((one) => hookSecondsOf(one) ?? 0);
  const longest = Math.ceil(Math.max(wanted, ...planned, ...hooks));
  const others = companionsOf(situation, [...raced, ...serving]);
  const missing = [...raced, ...others].filter((one) => (hookSecondsOf(one) ?? 0) < longest);
  const on = missing.map(({ name }) => name);
  const reasons = missing.map((one) => whyNoSleep(situation, one, longest));
  const stuck = reasons.find((one) => one !== undefined);
  const free = on.filter((_, at) => reasons[at] === undefined);
  return { seconds: on.length > 0 ? longest : 0, on, solves, sentences, stuck, free };
}

/** Stops that come before clients know of them; among them those whose hook failed and can be replaced. */
function lateStops(plan: Plan): Problem[] {
  const replaceable = plan.situation.containers.filter(({ hook }) => hook?.fails).map(({ name }) => name);
  const late = of(plan, 'drain-race', 'requests-lost', 'prestop-failed').filter(({ advice }) => advice === undefined);
  return late.filter(({ code, container = '' }) => code !== 'prestop-failed' || replaceable.includes(container));
}

/** A hook of another kind stays: its work must not be dropped. A sleep that can never run is no loss. */
const canSetSleep = ({ hook }: ContainerSpec): boolean =>
  !hook || ['sleep', 'tcpSocket'].includes(hook.kind) || (hook.fails !== undefined && hook.isPlainSleep);

function whyNoSleep(situation: Situation, container: ContainerSpec, seconds: number): string | undefined {
  const { name, hook, liveness: { graceSeconds: restart = Infinity } = {} } = container;
  if (isHeavyHook(seconds, restart))
    return `a preStop sleep of ${seconds}s needs a longer ${graceField} of the liveness probe of ${name}: a restart by it has ${restart}s, hook included`;
  if (canSetSleep(container)) return undefined;
  if (hook?.fails)
    return `replace the preStop hook of ${name} by a sleep of ${seconds}s, which needs no shell, and find another place for what else it does`;
  const { drains } = stopBehaviour(container.command, stopSignalOf(container), Infinity);
  const wait = hook?.stopsServer && drains !== 'yes' ? ', and wait until the server is gone' : '';
  const shell = hook?.line === undefined ? ', if its image has a shell' : '';
  const line = hook?.kind === 'exec' ? `: sh -c 'sleep ${seconds}; …'${shell}` : '';
  return `let the preStop hook of ${name} sleep ${seconds}s first${wait}${line}`;
}

function whyNoHook({ situation }: Plan): string | undefined {
  const { answer, because } = othersServe(situation);
  const { injected, readinessGates, capacity, measured, subject } = situation;
  if (answer === 'no')
    return `do not add a preStop sleep: ${because}, so it shortens no outage, and behind most Ingress controllers it lengthens it; only a second pod that runs meanwhile would help`;
  const workload = measured && subject.kind !== 'Pod' ? `${subject.kind.toLowerCase()}/${subject.name}` : undefined;
  const look = workload ? ` (kubectl podexit fix ${workload} reads them)` : '';
  if (answer === 'unknown') return `a preStop sleep helps only if others serve meanwhile: ${because}${look}`;
  const gate = readinessGates.find((one) => /elbv2|load-balancer|ingress/i.test(one));
  const set =
    servicesOfClients(situation).some(({ setsDeregistration }) => setsDeregistration) &&
    'an annotation sets its deregistration delay';
  const balancer = gate ? `readiness gate ${gate}` : set;
  if (balancer)
    return `a preStop sleep as long as the load balancer takes to drain connections (${balancer}), which is not known here`;
  if (capacity.single.length > 0 && isReplacedBeside(situation))
    return `a preStop sleep lets two pods run longer side by side, which a person must allow: ${reasonsIn(capacity.single)}`;
  if (!injected) return undefined;
  return `no preStop sleep of the application alone: the injected ${injected.name} stops ${injected.stops}, unless it is a native sidecar`;
}

function hookEdits(situation: Situation, { seconds, on }: Sleeps): Edit[] {
  const serving = containersThatServe(situation);
  const forClients = `clients need time to stop sending requests; adjust ${seconds}s to yours`;
  const forServing = `${list(serving.map(({ name }) => name))} may need it meanwhile`;
  return situation.containers.flatMap((one) => {
    const why = serving.length === 0 || serving.includes(one) ? forClients : forServing;
    return on.includes(one.name) ? set([...one.path, 'lifecycle', 'preStop'], { sleep: { seconds } }, why) : [];
  });
}

const graceCodes =
  /^(force-deleted|killed-at-grace|sidecar-killed|prestop-(cut-off|heavy)|grace-nearly-spent|timeout-exceeds-grace)$/;

/** All containers share one grace period: the one that needs the most decides. */
function graceFor(situation: Situation, { seconds, on }: Sleeps) {
  const today = situation.specGraceSeconds || defaultGraceSeconds;
  const needs = signalled(situation).map((container) => {
    const { measured, ownTimeout } = container;
    const hookToday = Math.max(hookSecondsOf(container) ?? 0, container.hook?.minSeconds ?? 0);
    const own = Math.max(hookToday, measured?.hookSeconds ?? 0);
    const added = seconds + (canSetSleep(container) ? 0 : own);
    const hookSeconds = on.includes(container.name) ? added : own;
    const beside = drainBeside(hookSeconds, { graceSeconds: today, hookSeconds: hookToday });
    // A single exit may have been a fast one, so a measured drain can only add to what there is today.
    const { drainSeconds = 0, wasKilled = false } = measured ?? {};
    if (drainSeconds > beside.drainSeconds)
      return { hookSeconds, drainSeconds, drainWords: wasKilled ? 'or more to stop' : 'to stop' };
    return ownTimeout && ownTimeout.seconds > beside.drainSeconds
      ? { hookSeconds, drainSeconds: ownTimeout.seconds, drainWords: `to stop (${ownTimeout.from})` }
      : { ...beside, knownSeconds: Math.max(drainSeconds, ownTimeout?.seconds ?? 0) };
  });
  return graceSize(needs, situation.limits);
}

/** More replicas: only for a Deployment, only with consent, and never against a reason to have one. */
function second(plan: Plan): Remedy[] {
  const { kind } = plan.situation.subject;
  const { capacity, measured } = plan.situation;
  const isDeployment = kind === 'Deployment';
  const alone = of(plan, 'last-endpoint', ...(measured && !isDeployment ? (['no-ready-endpoint'] as const) : []));
  if (alone.length === 0) return [];
  const { answer, because } = othersServe(plan.situation);
  const late = answer === 'no' ? lateStops(plan) : [];
  const then = late.length > 0 ? `; until then, a preStop sleep would shorten no outage, as ${because}` : '';
  const said = (text: string): Remedy[] => inWords([...alone, ...late], text + then);
  if (kind === 'Pod') return said('run the pod as a Deployment of at least two replicas');
  if (kind === 'DaemonSet')
    return said('its clients have only the pod of this node; let them reach those of other nodes');
  const person = `only a second replica would help, and that needs a person: ${reasonsIn(capacity.single)}`;
  if (capacity.single.length > 0) return said(person);
  if (isDeployment && capacity.autoscaler !== undefined)
    return said(`let ${capacity.autoscaler} keep at least 2 replicas, if the application can share its work`);
  const share =
    'only a second replica helps, if the application can share its work: then protect both with a PodDisruptionBudget';
  if (!isDeployment || measured || capacity.replicas !== 1) return said(share);
  return [
    {
      solves: alone,
      text: 'a second replica keeps the Service answering, if two pods may do its work at the same time',
      edits: [set(['spec', 'replicas'], 2, 'one replica leaves its Service without an endpoint')],
      costs: 'the resources of one more pod',
      consent: 'replicas',
    },
  ];
}

/** Another rollout strategy: with consent, and one for all problems of the field. The two amounts alone: others stay. */
function strategy(plan: Plan): Remedy[] {
  const solves = of(plan, 'no-ready-endpoint', 'rollout-blocked', 'host-network');
  const { subject, measured } = plan.situation;
  if (solves.length === 0 || (measured && subject.kind !== 'Deployment')) return [];
  const words = strategyText(plan.situation);
  if (words !== undefined) return inWords(solves, words);
  const why = 'a new pod is ready before an old one goes';
  const path = ['spec', 'strategy', 'rollingUpdate'];
  return [
    {
      solves,
      text: `${why}: maxUnavailable 0 and maxSurge 1`,
      edits: [set([...path, 'maxUnavailable'], 0, why), set([...path, 'maxSurge'], 1, why)],
      consent: 'strategy',
      costs: 'during a rollout the resources of one more pod',
    },
  ];
}

/** Where a person must decide; undefined: an edit of the two amounts helps. */
function strategyText({ subject, capacity, measured }: Situation): string | undefined {
  const { rollout, single, inPlace, accessMode = 'ReadWriteOnce' } = capacity;
  const first = 'start the new pod before the old one stops (maxUnavailable 0, maxSurge 1)';
  if (measured) return `${first}, if two pods may run at the same time`;
  const held = inPlace.find(({ why }) => why === 'device' || why === 'host ports')?.why;
  const room = `keep another ${held === 'device' ? held : 'node'} free for the next pod`;
  const decision = rollout?.isRecreate ? 'strategy Recreate' : single.includes('recreate') ? 'maxSurge 0' : undefined;
  if (decision !== undefined)
    return `${decision} is a decision: keep it if two pods must not run at the same time, and else use RollingUpdate${subject.kind === 'Deployment' ? ' with maxUnavailable 0 and maxSurge 1' : ''}${held ? `, and ${room}` : ''}`;
  if (subject.kind !== 'Deployment')
    return held
      ? `let the old pod release its ${held} first (maxUnavailable 1, maxSurge 0)`
      : 'set maxUnavailable to 1, so that other pods serve meanwhile';
  if (inPlace.some(({ why }) => why === 'volume')) return `use strategy Recreate for a ${accessMode} volume`;
  if (held) return startsFirst(capacity) ? room : `${first}, and ${room}`;
  return single.length > 0 ? `${first}, unless ${reasonsIn(single)}` : undefined;
}
