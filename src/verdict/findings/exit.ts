/** Findings about how the containers ended. */
import type { ContainerTimeline } from '../../infer/timeline.ts';
import type { FindingDraft } from '../finding.ts';
import { graceAdvice, loweredGrace } from '../grace.ts';
import { afterText, lengthText } from '../length-text.ts';
import {
  containerSpec,
  evidenceOf,
  graceText,
  longestGrace,
  ranIn,
  shortestGrace,
  signalName,
  type RuleInput,
} from '../rule-input.ts';

export const exitFindings = (input: RuleInput): FindingDraft[] =>
  ranIn(input).flatMap((container) => [
    ...killed(input, container),
    ...ignoredSignal(input, container),
    ...nonzero(input, container),
    ...outOfMemory(input, container),
    ...oomInContainer(input, container),
  ]);

function killed(input: RuleInput, container: ContainerTimeline): FindingDraft[] {
  const { name, kind, outcome, probable, reaction } = container;
  if (outcome !== 'killed') return [];
  const after = afterSignal(container);
  const was = probable ? 'was probably' : 'was';
  const evidence = evidenceOf(input, container);
  const beside = kind === 'container' || kind === 'init' ? undefined : besides[kind];
  if (beside) {
    const clause = `${beside.label} ${name} ${was} SIGKILLed${after}`;
    const message = `${clause}, when the ${graceText(input)} ended: ${beside.because}`;
    const advice = beside.advice(input, container);
    return [{ code: 'sidecar-killed', severity: 'warning', container: name, message, clause, advice, evidence }];
  }
  return [
    {
      code: 'killed-at-grace',
      severity: 'error',
      container: name,
      message: `${name} ${was} SIGKILLed${after}, when its ${graceText(input)} ended (exit 137)`,
      clause: `${name} was still running${after}`,
      why: reaction === 'none' ? undefined : shellText(input, name),
      advice: killAdvice(input, container),
      needsGrace: reaction !== 'none' && !containerSpec(input.timeline.pod, name)?.ignoresTerm,
      evidence,
    },
  ];
}

/** Containers that do not make the outcome. */
const besides = {
  sidecar: { label: 'sidecar', because: 'sidecars get what the main containers leave of it', advice: sidecarAdvice },
  ephemeral: {
    label: 'debug container',
    because: 'a shell does not exit on SIGTERM',
    advice: (_: RuleInput, { name }: ContainerTimeline): string =>
      `Leave ${name} before the pod is deleted; this says nothing about the application itself.`,
  },
};

const afterSignal = (container: ContainerTimeline): string =>
  container.drain ? afterText(lengthText(container.drain), signalName(container)) : '';

/** A longer grace period helps only an application that reacts. */
function killAdvice(input: RuleInput, container: ContainerTimeline): string {
  const { name, reaction } = container;
  if (containerSpec(input.timeline.pod, name)?.ignoresTerm) return handlingAdvice(input, name);
  if (reaction === 'none')
    return `Make ${name} handle ${signalName(container)}; a longer grace period would only delay the SIGKILL.`;
  return graceAdvice(loweredGrace(input), {
    usual: `Make ${name} exit sooner after ${signalName(container)}, or set terminationGracePeriodSeconds above what it needs.`,
    faster: `make ${name} exit sooner after ${signalName(container)}`,
  });
}

function sidecarAdvice(input: RuleInput, container: ContainerTimeline): string {
  if (container.reaction === 'none') return killAdvice(input, container);
  const { name } = container;
  return graceAdvice(loweredGrace(input), {
    usual: `Let ${name} stop faster, or raise terminationGracePeriodSeconds by what it needs after the main containers.`,
    faster: `let ${name} stop faster`,
  });
}

/** Only where its log was followed: without that there is no reaction to miss. */
function ignoredSignal(input: RuleInput, container: ContainerTimeline): FindingDraft[] {
  const { name, reaction, drain } = container;
  if (reaction !== 'none') return [];
  const signal = signalName(container);
  const length = drain ? ` for ${lengthText(drain).replace('≤', 'up to ')}` : '';
  return [
    {
      code: 'no-signal-handling',
      severity: 'warning',
      container: name,
      message: `${name} showed no reaction to ${signal}${length}: no log line and no readiness change until SIGKILL`,
      clause: `${name} ignored ${signal}${length}`,
      why: [`no log line and no readiness change of ${name} after ${signal}`, shellText(input, name)]
        .filter(Boolean)
        .join('; '),
      advice: handlingAdvice(input, name),
      evidence: evidenceOf(input, container),
    },
  ];
}

/** What its command says about signals, where that explains a SIGKILL. */
function shellText(input: RuleInput, name: string): string | undefined {
  const spec = containerSpec(input.timeline.pod, name);
  if (spec?.ignoresTerm) return 'its command says `trap "" TERM`';
  return spec?.shell ? 'its PID 1 is a shell, which seldom passes signals on' : undefined;
}

/** An ignored signal stays ignored through exec, so nothing helps before that trap has gone (POSIX, signal(7)). */
function handlingAdvice(input: Pick<RuleInput, 'timeline'>, name: string): string {
  const spec = containerSpec(input.timeline.pod, name);
  if (spec?.ignoresTerm)
    return `Remove \`trap "" TERM\` from the command of ${name}: what is ignored there stays ignored even after exec.`;
  if (spec?.shell)
    return `Start the program of ${name} with exec (\`sh -c "exec app"\`), in exec form, or under an init such as tini: the shell receives the signal and does not pass it on.`;
  return `Check that ${name} has a handler for its stop signal: PID 1 without one ignores it. Start the program with exec, or under an init such as tini; STOPSIGNAL in the image chooses another signal.`;
}

function nonzero(input: RuleInput, container: ContainerTimeline): FindingDraft[] {
  const { name, outcome, exit, kind } = container;
  if (outcome !== 'failed' || exit?.code === undefined) return [];
  const after = afterSignal(container);
  const early = exit.code === 137 ? `${after}, before the kubelet's SIGKILL was due` : after;
  const isStarved = exit.reason === 'OOMKilled';
  const label = kind === 'sidecar' ? `sidecar ${name}` : name;
  return [
    {
      code: 'exit-nonzero',
      // A sidecar's exit code does not make the outcome.
      severity: kind === 'sidecar' || kind === 'ephemeral' ? 'warning' : 'error',
      container: name,
      message: `${label} exited with code ${exit.code}${early}${isStarved ? ' (OOMKilled: one of its processes ran out of memory)' : ''}${exit.code === 137 ? `: ${earlyKill(container)}` : ''}`,
      clause: `${label} exited ${exit.code}${early}`,
      why: exit.code === 137 ? `exit 137 came too early for the kubelet's SIGKILL: ${earlyKill(container)}` : undefined,
      advice: isStarved
        ? `Raise the memory limit of ${name}, or use less memory while shutting down.`
        : `Look at the last log lines of ${name}: a clean shutdown exits with 0, or with 128 plus the signal's number.`,
      evidence: evidenceOf(input, container),
    },
  ];
}

/** The API seldom names the stop signal, and never an image's STOPSIGNAL (SIGNALS.md §2 S8): that may be SIGKILL itself. */
const earlyKill = ({ stopSignal }: ContainerTimeline): string =>
  stopSignal?.signal === undefined
    ? 'its own exit code, a SIGKILL by somebody else, or SIGKILL as the STOPSIGNAL of its image'
    : 'its own exit code, or a SIGKILL by somebody else';

function outOfMemory(input: RuleInput, container: ContainerTimeline): FindingDraft[] {
  const { name, outcome, exit, stopSignal } = container;
  const isPerhaps = outcome === 'unknown' && exit?.reason === 'OOMKilled' && exit.code === 137;
  if (outcome !== 'oom' && !isPerhaps) return [];
  const message = isPerhaps
    ? `${name} was SIGKILLed, out of memory or at the end of its grace period: OOMKilled stays from any earlier process of it, and the time fits both`
    : stopSignal
      ? `${name} was OOMKilled while it was shutting down`
      : `${name} was OOMKilled as the pod was being deleted: nothing shows that it had been asked to stop by then`;
  return [
    {
      code: 'oom-on-exit',
      severity: 'error',
      container: name,
      message,
      clause: `${name} ran out of memory${afterSignal(container)}`,
      advice: `Where shutting down takes ${name} more memory than its limit, raise resources.limits.memory or flush in smaller steps.`,
      evidence: evidenceOf(input, container),
    },
  ];
}

/** The reason stays from any process of the container, whatever the code of PID 1 (SIGNALS.md §5 "Exit codes"). */
function oomInContainer(input: RuleInput, container: ContainerTimeline): FindingDraft[] {
  const { name, outcome, exit } = container;
  if (exit?.reason !== 'OOMKilled' || (outcome !== 'completed' && outcome !== 'signalled')) return [];
  return [
    {
      code: 'oom-in-container',
      severity: 'warning',
      container: name,
      message: `a process of ${name} was OOMKilled, though ${name} itself exited ${exit.code}`,
      clause: `a process of ${name} was OOMKilled`,
      advice: `Raise resources.limits.memory of ${name}: one of its processes needs more, in its life or while shutting down.`,
      evidence: evidenceOf(input, container),
    },
  ];
}

const nearly = 0.75;

/** Exited in time, but hook and drain together took at least three quarters of the grace period. */
export function nearlySpentFindings(input: RuleInput): FindingDraft[] {
  return ranIn(input).flatMap((container): FindingDraft[] => {
    const used = leastUsed(input, container);
    if (used === undefined || !(used >= nearly * longestGrace(input))) return [];
    const { name, pastGrace, preStop } = container;
    if (pastGrace && preStop?.outcome === 'cut-off') return [];
    // It may yet turn out to have been cut off.
    if (preStop?.outcome === 'unknown' && !input.trace.gone) return [];
    const text = usedText(input, container, used);
    return [
      {
        code: 'grace-nearly-spent',
        severity: 'warning',
        container: name,
        message: pastGrace
          ? `${name} exited ${lengthText(pastGrace)} past its ${graceText(input)} (not killed)`
          : `${name} used ${text} of its ${graceText(input)}: a slower shutdown will be SIGKILLed`,
        clause: `${name} used ${text} of its ${graceText(input)}`,
        advice: graceAdvice(loweredGrace(input), headroomRemedy(input, container, used)),
        needsGrace: true,
        evidence: evidenceOf(input, container),
      },
    ];
  });
}

/** ms, at least; a sidecar is judged by its own part, without its wait for the others. */
function leastUsed(input: RuleInput, container: ContainerTimeline): number | undefined {
  const { kind, outcome, exit, graceUsed, drain, preStop } = container;
  if (exit?.code === undefined || outcome === 'killed' || outcome === 'oom') return undefined;
  if (kind === 'sidecar') return drain && drain.min + (preStop?.length?.min ?? 0);
  return graceUsed && graceUsed.min * longestGrace(input);
}

function usedText(input: RuleInput, { kind, graceUsed }: ContainerTimeline, least: number): string {
  if (kind === 'sidecar' || !graceUsed) return lengthText({ min: least, max: least, shown: least });
  const grace = Math.max(1, input.timeline.grace.effectiveSeconds) * 1000;
  const most = graceUsed.max * shortestGrace(input);
  return lengthText({ min: least, max: most, shown: Math.min(Math.max(graceUsed.shown * grace, least), most) });
}

function headroomRemedy(input: RuleInput, container: ContainerTimeline, used: number) {
  const { name, preStop } = container;
  const hook = preStop?.length?.min ?? 0;
  const faster = hook * 2 >= used ? 'shorten the preStop hook' : `make ${name} exit sooner`;
  const holder = holderOf(input, container);
  const needs = used / 1000 / nearly;
  if (holder !== undefined)
    return {
      usual: `${name} stops after ${holder}: make ${holder} exit sooner, or raise terminationGracePeriodSeconds.`,
      faster: `make ${holder} exit sooner`,
      needs,
    };
  return { usual: `Raise terminationGracePeriodSeconds, or ${faster}.`, faster, needs };
}

/** The main container that a sidecar waited for when its own hook was certainly over (SIGNALS.md §2 S7). */
function holderOf(input: RuleInput, { kind, preStop }: ContainerTimeline): string | undefined {
  const hookEnd = preStop?.end;
  if (kind !== 'sidecar' || !hookEnd) return undefined;
  const later = ranIn(input).filter(
    (one) => one.kind === 'container' && one.exit && one.exit.at.earliest > hookEnd.latest,
  );
  return later.sort((a, b) => (b.exit?.at.latest ?? 0) - (a.exit?.at.latest ?? 0))[0]?.name;
}
