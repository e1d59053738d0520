/** The report of one exit with what a person can do about its findings, and its remedies: what every format prints. Pure. */
import { asObject } from '../model/observe/read.ts';
import type { Trace } from '../model/trace.ts';
import type { Policy } from '../verdict/policy.ts';
import { judgedExit, type Report, type JudgedExit } from '../verdict/report.ts';
import adviceOnLoss from './data/advice-on-loss.json' with { type: 'json' };
import type { Problem } from './problem.ts';
import { editedValue, strategicPatch } from './fix/edit.ts';
import { adviceFor, remediesFor, type Remedy } from './remedies.ts';
import { templatePaths, type Situation, situationOf } from './situation.ts';
import type { V1Service } from '@kubernetes/client-node';
import type { ContainerTimeline, Timeline } from '../infer/timeline.ts';
import type { Container } from '../model/observe/container.ts';
import { statusOf } from '../model/pod.ts';
import { rowOf, shellsByName } from '../programs/rows.ts';
import { knownEnd } from '../programs/stop-behaviour.ts';
import type { JudgedFinding } from '../verdict/finding.ts';
import { boundOf } from '../verdict/words.ts';
import { isLostSleep } from '../verdict/findings/containers.ts';
import { askedText, containerSpec, ignoresItsSignal, signalName, stopSignalName } from '../verdict/rule-input.ts';
import { lossOf, type Loss } from '../verdict/loss.ts';
import { notJudged } from '../verdict/traffic.ts';
import type { MeasuredContainer } from './container-spec.ts';
import { neighboursIn, serviceOf } from './neighbours.ts';
import { companionsOf, containersThatServe } from './roles.ts';

/** Undefined until the pod has been seen. */
export function reportOf(trace: Trace, policy: Policy = { gates: [], warnOnly: false }): Report | undefined {
  const judged = judgedExit(trace, policy);
  if (!judged) return undefined;
  const { timeline, answer } = judged;
  const advised = judged.verdict.findings.map((one) => ({ ...one, advice: one.advice ?? exitAdvice(judged, one) }));
  const verdict = { ...judged.verdict, findings: advised };
  const { object, situation } = situationOfTrace(trace, timeline);
  const early = answer.traffic.judgement === 'safe' ? stoppedFirst(situation, timeline) : undefined;
  const traffic = early === undefined ? answer.traffic : { ...answer.traffic, ...notJudged(early) };
  const isCause = ({ code, container }: Problem): boolean =>
    code === answer.cause?.code && (answer.cause.container === undefined || answer.cause.container === container);
  // What only a person can do is said of the cause of the exit and of its signal; the rest is in the findings.
  const problems = problemsOfExit({ timeline, verdict }, trace).flatMap((one): Problem[] => {
    if (one.advice === undefined) return [one];
    return one.code === 'no-signal-handling' || isCause(one) ? [{ ...one, severity: 'warning' }] : [];
  });
  const remedies = remediesFor(situation, problems);
  const findings = advised.map((finding) => {
    const isAbout = ({ code, container }: Problem): boolean => code === finding.code && container === finding.container;
    const solved = remedies.flatMap(({ solves }) => solves).find(isAbout);
    return { ...finding, advice: finding.advice ?? (solved && adviceFor(solved, remedies)) };
  });
  const fix = printed(object, situation, remedies, isCause);
  const isSaid = answer.why !== undefined && fix.advice.some((text) => text.includes(answer.why ?? ''));
  return {
    ...judged,
    verdict: { ...verdict, findings },
    answer: { ...answer, ...fix, why: isSaid ? undefined : answer.why, traffic },
  };
}

/** Sentences for a person, that about the cause first, and the patch of the rest if the workload has a template to patch. */
function printed(
  object: object,
  situation: Situation,
  remedies: readonly Remedy[],
  isCause: (one: Problem) => boolean,
) {
  const patches = remedies.filter(({ edits, after, consent }) => edits.length > 0 && !after && !consent);
  const left = remedies.filter((one) => !patches.includes(one));
  const isAboutCause = ({ solves, after }: Remedy): boolean => !after && solves.some(isCause);
  left.sort((a, b) => Number(isAboutCause(b)) - Number(isAboutCause(a)));
  const advice = [...new Set(left.map(({ text, after }) => (after ? `after that: ${text}` : text)))];
  const { kind, name, namespace = 'default' } = situation.subject;
  const reason = patches.map(({ text }) => text).join('; ');
  if (patches.length === 0) return { advice, fix: [] };
  // Names come from the cluster and go into a shell command, so only valid Kubernetes names are accepted.
  const inWords = `in its manifest: ${reason}`;
  if (!Object.hasOwn(templatePaths, kind) || !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name))
    return { advice: patches.some(isAboutCause) ? [inWords, ...advice] : [...advice, inWords], fix: [] };
  const edits = patches.flatMap((one) => one.edits);
  const patch = asObject(strategicPatch(object, editedValue(object, edits)));
  const json = JSON.stringify(patch).replaceAll("'", `'\\''`);
  const where = /^[-a-z0-9]+$/.test(namespace) ? ` -n ${namespace}` : '';
  const command = `kubectl patch ${kind.toLowerCase()}/${name}${where} --patch '${json}'`;
  return { advice, fix: [{ reason, target: { kind, name }, patch, command }] };
}

/** The object as far as a trace shows it, and what it says. */
function situationOfTrace(trace: Trace, timeline: Timeline): { object: object; situation: Situation } {
  const { pod, workload, grace } = timeline;
  const { kind, name, replicas } = workload ?? { kind: 'Pod', name: pod.metadata.name };
  const metadata = { name, namespace: pod.metadata.namespace };
  const path = templatePaths[kind] ?? [];
  // A patch names its fields in this order.
  const { terminationGracePeriodSeconds, ...others } = pod.spec;
  const podSpec = { ...others, terminationGracePeriodSeconds };
  const { spec } = asObject([...path, 'spec'].reduceRight<object>((inner, key) => ({ [key]: inner }), podSpec));
  const object = {
    kind,
    metadata,
    // It has a selector, unlike a part of a manifest; a trace does not hold which.
    spec: { ...asObject(spec), replicas, selector: {} },
    status: { desiredNumberScheduled: replicas },
  };
  const around = { ...neighboursIn([]), mayHaveOtherServices: false };
  const read = situationOf(object, around, grace.effectiveSeconds, path);
  const { capacity } = read;
  const ready = timeline.endpoints.flatMap(({ wasReady, otherReady }) => (wasReady ? otherReady : []));
  const situation = {
    ...read,
    subject: { kind, ...metadata },
    isCustom: false,
    containers: read.containers.flatMap((container) => {
      const exit = timeline.containers.find((one) => one.name === container.name);
      const lost = exit && isLostSleep(timeline, exit) ? { minSeconds: undefined, fails: 'failed at once' } : {};
      const hook = container.hook && { ...container.hook, ...lost };
      return exit?.ran ? { ...container, hook, measured: measuredOf(exit, grace.effectiveSeconds) } : [];
    }),
    // A trace has neither volumes nor the strategy of the workload.
    capacity: { ...capacity, rollout: undefined, ownData: capacity.ownData || kind === 'StatefulSet' },
    services: [...trace.services.values()].map((service) => serviceOf(service as unknown as V1Service)),
    measured: {
      otherReady: ready.length > 0 ? Math.min(...ready) : undefined,
      hookSeconds: lossOf(timeline)?.preStopSeconds,
    },
  };
  return { object, situation };
}

/** An exit by a crash shows nothing about the time that a shutdown needs. Hook and drain are parts of one length. */
function measuredOf({ preStop, drain, outcome, exit }: ContainerTimeline, graceSeconds: number): MeasuredContainer {
  const hookSeconds = preStop?.sleepSeconds ?? (preStop?.length && boundOf(preStop.length) / 1000);
  if (outcome === 'failed' || outcome === 'oom') return { hookSeconds, wasKilled: false };
  const wasKilled = outcome === 'killed';
  const whole = exit && preStop ? (exit.at.latest - preStop.start.earliest) / 1000 : Infinity;
  // What was not killed stopped within its grace period, unless it is seen to have taken longer.
  const most = Math.max(graceSeconds, (drain?.min ?? 0) / 1000);
  const drained = drain && Math.min(boundOf(drain) / 1000, Math.max(0, whole - (hookSeconds ?? 0)), most);
  return { hookSeconds, wasKilled, drainSeconds: wasKilled ? graceSeconds : drained };
}

/** A container that clients' requests may need ended before that which serves them got its signal. */
function stoppedFirst(situation: Situation, { containers }: Timeline): string | undefined {
  const serving = containersThatServe(situation);
  const exitOf = (name?: string) => containers.find((one) => one.name === name);
  const until = exitOf(serving[0]?.name)?.stopSignal?.earliest ?? -Infinity;
  const early = companionsOf(situation, serving).find(({ name }) => (exitOf(name)?.exit?.at.latest ?? until) < until);
  return (
    early && `${early.name} stopped while ${serving[0]?.name} still served, and requests that need it, if any, fail`
  );
}

/** Findings about a grace period that was enough, but only just, or that cut a hook off. */
const tightGraceCodes = /^(prestop-cut-off|prestop-heavy|grace-nearly-spent)$/;

/** What happened, as Problems. Those with `advice` are for a person; remedies.ts decides about the others. */
function problemsOfExit({ timeline, verdict }: Pick<JudgedExit, 'timeline' | 'verdict'>, trace: Trace): Problem[] {
  const { trigger, workload } = timeline;
  // Nobody takes over from a pod whose namespace or owner is deleted, and no hook runs in a forced deletion.
  const isLeaving = workload?.replicas === 0 || /^(namespace-deletion|owner-deleted)$/.test(trigger.kind);
  const isUnfixable = verdict.outcome === 'forced' || isLeaving;
  return verdict.findings.flatMap((finding): Problem[] => {
    const { code, severity, container, message, advice } = finding;
    const problem: Problem = { code, severity, container, message, path: [] };
    if (code === 'last-endpoint' || code === 'no-ready-endpoint') {
      const isSaid = (code === 'no-ready-endpoint') !== (trigger.kind === 'rollout') || trigger.kind === 'scale-down';
      return isLeaving || severity === 'info' || isSaid ? [] : [problem];
    }
    if (code === 'drain-race') return isUnfixable ? [] : [{ ...problem, severity: 'warning' }];
    if (code === 'requests-lost') {
      const isSized = ['sent-too-late', 'no-ready-backend'].includes(lossOf(timeline)?.cause ?? '');
      return isUnfixable || (!isSized && advice === undefined) ? [] : [{ ...problem, advice }];
    }
    if (code === 'killed-at-grace' || code === 'no-signal-handling') return [signalProblem(trace, timeline, finding)];
    // Without advice, the spec's grace period itself was too short.
    return isUnfixable && tightGraceCodes.test(code) && advice === undefined ? [] : [{ ...problem, advice }];
  });
}

/** A kill of an application that reacted is a matter of the grace period, and any other one of its signal. */
function signalProblem(trace: Trace, timeline: Timeline, { container: name, ...about }: JudgedFinding): Problem {
  const container = timeline.containers.find((one) => one.name === name);
  const problem = { ...about, container: name, path: [] };
  if (!container) return problem;
  const reaction = reactionOf(timeline, container);
  const starting = `${stopSignalName(container) ?? 'The stop signal'} came within ${startingSeconds}s of the start of ${name}, perhaps while its start script was PID 1: an init such as tini as PID 1 ends it then.`;
  if (wasStarting(trace, timeline, container)) return { ...problem, code: 'no-signal-handling', advice: starting };
  return reaction.isUnhandled ? { ...problem, code: 'no-signal-handling' } : problem;
}

/** Less than this after its start, PID 1 may still be the script that starts the application. */
const startingSeconds = 10;

/** Not if it passed its readiness probe, or its command shows what the signal did: it sets its trap in the first second. */
function wasStarting({ containers }: Trace, timeline: Timeline, container: ContainerTimeline): boolean {
  const { name, stopSignal, drain, reaction } = container;
  const { spec, ignores, known, row } = reactionOf(timeline, container);
  const status = statusOf(timeline.pod, name);
  if ((status?.ready && spec.readinessProbe) || !stopSignal || !drain || ignores || known) return false;
  if (reaction === 'seen' || (row && row.kind !== 'wrapper' && !shellsByName.has(row.name))) return false;
  if (!spec.handlesTerm && (spec.shell || spec.handlesOther)) return false;
  // While the postStart hook runs, only the status of its end shows its start.
  const { startedAt = '' } = status?.state.running ?? containers.get(name)?.terminated?.value ?? {};
  return stopSignal.shown - Date.parse(startedAt) < (spec.handlesTerm ? 2 : startingSeconds) * 1000;
}

/** Undefined: the finding needs nothing, or a longer grace period, which remedies.ts sizes. */
function exitAdvice({ timeline, lowered }: JudgedExit, { code, container: name }: JudgedFinding): string | undefined {
  if (code === 'requests-lost') return lossAdvice[lossOf(timeline)?.cause ?? 'unexplained'];
  const container = timeline.containers.find((one) => one.name === name);
  const isKill = /^(sidecar-killed|killed-at-grace|no-signal-handling)$/.test(code);
  if (!container || !(isKill || tightGraceCodes.test(code))) return undefined;
  const handling = reactionOf(timeline, container);
  const { spec, isOpen, isUnhandled } = handling;
  // A shorter grace period explains a kill better than a STOPSIGNAL that nobody saw, if the command handles SIGTERM.
  if (isKill && isUnhandled && !(lowered && spec.handlesTerm && isOpen)) return handlingAdvice(handling);
  const faster = code.startsWith('prestop-') ? 'shorten the hook' : `make ${container.name} exit sooner`;
  return (
    lowered && `The deletion ${askedText(lowered)}: delete without --grace-period, --now and --force, or ${faster}.`
  );
}

const lossAdvice: Partial<Record<Loss['cause'], string>> = adviceOnLoss;

/** How a container takes its stop signal, and what to do about that. */
function reactionOf(timeline: Timeline, container: ContainerTimeline) {
  const { name, kind, drain, reaction, stopSignal } = container;
  const spec: Partial<Container> = containerSpec(timeline.pod, name) ?? {};
  const { handlesTerm, handlesOther } = spec;
  const ignores = ignoresItsSignal(timeline, container);
  // Its command handles signals, and nothing shows that one of these came (SIGNALS.md §2 S8).
  const isOpen = reaction !== 'seen' && stopSignal?.isPerhapsOther === true && (handlesTerm ?? handlesOther ?? false);
  // A longer grace period helps only an application that reacts: nothing shows that, or its silence shows that it does not.
  // A sidecar may have got its signal when most of the grace period was over.
  const hadTime = kind !== 'sidecar' || (drain?.max ?? 0) >= timeline.grace.effectiveSeconds * 500;
  const isUnknown = reaction === undefined && hadTime && handlesTerm !== true;
  const isUnhandled = ignores || isOpen || reaction === 'none' || isUnknown;
  const known = knownEnd(spec, signalName(container), 137)?.advice;
  return { name, spec, ignores, isOpen, isUnhandled, known, reaction, row: rowOf([spec.program ?? '']) };
}

/** An ignored signal stays ignored after exec (POSIX, signal(7)), so that trap has to go first. */
function handlingAdvice({ name, spec, ignores, isOpen, known, reaction, row }: ReturnType<typeof reactionOf>): string {
  if (ignores)
    return `In the command of ${name}, replace \`trap "" TERM\` by a trap that stops it, or by exec of a program that handles SIGTERM.`;
  if (isOpen)
    return `Look up the STOPSIGNAL of the image of ${name} (docker image inspect, crictl inspecti): its command has to handle that signal${spec.handlesTerm ? '. If it is SIGTERM, its handler needs more than the grace period' : ''}.`;
  if (spec.shell)
    return `Start the program of ${name} with exec (\`sh -c "exec app"\`) or in exec form, and let it handle the signal: a shell that stays PID 1 does not pass it on (kubectl podexit check reads the whole command).`;
  if (known) return `${known}.`;
  if (row?.kind === 'init')
    return `Check that what ${spec.program} starts in ${name} handles the stop signal, which ${spec.program} passes on (kubectl podexit check reads the whole command).`;
  return `Check that ${name} has a handler for its stop signal: PID 1 without one ignores it. Start the program with exec, or under an init such as tini; STOPSIGNAL in the image chooses another signal.${reaction === 'none' ? '' : ' If its log says that it was stopping, it needs a longer grace period instead.'}`;
}
