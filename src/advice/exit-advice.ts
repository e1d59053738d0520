/** What a person can do about a finding of an exit: sentences. What a patch can do is for remedies.ts to decide. Pure. */
import type { ContainerTimeline, Timeline } from '../infer/timeline.ts';
import type { JudgedFinding } from '../verdict/finding.ts';
import { askedText } from '../verdict/grace.ts';
import { knownEnd } from '../programs/stop-behaviour.ts';
import { lossOf, type Loss } from '../verdict/loss.ts';
import type { JudgedExit } from '../verdict/report.ts';
import { containerSpec, ignoresItsSignal, signalName } from '../verdict/rule-input.ts';

/** Undefined: the finding needs nothing, or a longer grace period, which remedies.ts sizes. */
export function exitAdvice(
  { timeline, lowered }: Pick<JudgedExit, 'timeline' | 'lowered'>,
  { code, container: name }: JudgedFinding,
): string | undefined {
  if (code === 'requests-lost') return lossAdvice[lossOf(timeline)?.cause ?? 'unexplained'];
  const container = timeline.containers.find((one) => one.name === name);
  if (!container) return undefined;
  const { kind, reaction, preStop, graceUsed, drain } = container;
  /** `faster`: what the pod itself can do. `neededMs`: what would have been enough, 0 if unknown. */
  const orElse = (faster: string, neededMs = 0): string | undefined =>
    lowered && neededMs < lowered.spec * 1000
      ? `The deletion ${askedText(lowered)}: delete without --grace-period, --now and --force, or ${faster}.`
      : undefined;
  const hookMs = preStop?.length?.min ?? 0;
  if (code === 'prestop-cut-off') {
    const planned =
      preStop?.sleepSeconds ?? containerSpec(timeline.pod, container.name)?.lifecycle?.preStop?.exec?.seconds;
    return orElse('shorten the hook', (planned ?? 0) * 1000);
  }
  if (code === 'prestop-heavy') return orElse('shorten the hook', hookMs * 2);
  if (code === 'grace-nearly-spent') {
    const usedMs = kind === 'sidecar' ? (drain?.min ?? 0) + hookMs : (graceUsed?.min ?? 0);
    // A sidecar also waits for the main containers, so any of them may be the slow one.
    const exiting = kind === 'sidecar' ? 'the containers' : container.name;
    return orElse(hookMs * 2 >= usedMs ? 'shorten the preStop hook' : `make ${exiting} exit sooner`, usedMs / 0.75);
  }
  if (code === 'sidecar-killed' && reaction !== 'none') return orElse(`let ${container.name} stop faster`);
  if (!['sidecar-killed', 'killed-at-grace', 'no-signal-handling'].includes(code)) return undefined;
  if (isUnhandled(timeline, container)) return handlingAdvice(container, timeline);
  return orElse(`make ${container.name} exit sooner after ${signalName(container)}`);
}

const lossAdvice: Partial<Record<Loss['cause'], string>> = {
  'kept-connection-cut':
    'answer with "Connection: close" (HTTP/2: GOAWAY) while draining, and close idle connections last',
  'unanswered-while-draining':
    'answer what was accepted before the listening socket is closed, and let the preStop hook outlast new traffic',
};

/** A longer grace period helps only an application that reacts: nothing shows that, or its silence shows that it does not. */
export const isUnhandled = (timeline: Timeline, container: ContainerTimeline): boolean =>
  ignoresItsSignal(timeline, container) ||
  container.reaction === 'none' ||
  isSignalOpen(timeline, container) ||
  (container.reaction === undefined && containerSpec(timeline.pod, container.name)?.handlesTerm !== true);

/** Its command handles signals, and nothing shows that one of these came (SIGNALS.md §2 S8). */
function isSignalOpen({ pod }: Timeline, { name, reaction, stopSignal }: ContainerTimeline): boolean {
  const { handlesTerm, handlesOther } = containerSpec(pod, name) ?? {};
  return reaction !== 'seen' && stopSignal?.isPerhapsOther === true && (handlesTerm ?? handlesOther ?? false);
}

/** Of a program that is known to ignore its stop signal. */
export const knownAdvice = ({ pod }: Timeline, container: ContainerTimeline): string | undefined =>
  knownEnd(containerSpec(pod, container.name) ?? {}, signalName(container), 137)?.advice;

/** An ignored signal stays ignored after exec (POSIX, signal(7)), so that trap has to go first. */
function handlingAdvice(container: ContainerTimeline, timeline: Timeline): string {
  const { name } = container;
  if (ignoresItsSignal(timeline, container))
    return `Remove \`trap "" TERM\` from the command of ${name}: an ignored signal stays ignored after exec.`;
  if (isSignalOpen(timeline, container))
    return `Look up the STOPSIGNAL of the image of ${name} (docker image inspect, crictl inspecti): its command has to handle that signal${containerSpec(timeline.pod, name)?.handlesTerm ? '. If it is SIGTERM, its handler needs more than the grace period' : ''}.`;
  if (containerSpec(timeline.pod, name)?.shell)
    return `Start the program of ${name} with exec (\`sh -c "exec app"\`) or in exec form: the shell receives the signal and does not pass it on.`;
  const known = knownAdvice(timeline, container);
  if (known) return `${known}.`;
  return `Check that ${name} has a handler for its stop signal: PID 1 without one ignores it. Start the program with exec, or under an init such as tini; STOPSIGNAL in the image chooses another signal.`;
}
