/** Rules that compare preStop hooks with the grace period: SIGNALS.md §2 S6 to S8. */
import { graceFor, unmeasuredDrain } from '../../verdict/shutdown-numbers.ts';
import { at, error, ofContainer, warning, type CheckFinding } from '../finding.ts';
import type { ContainerSpec } from '../container-spec.ts';
import type { ShutdownSpec } from '../shutdown-spec.ts';

/** The kubelet leaves at least this much between the end of a hook and SIGKILL (SIGNALS.md §2 S8). */
const minSecondsAfterHook = 2;

const atHook = (container: ContainerSpec) => at(container, 'lifecycle', 'preStop');

/** These images have neither a shell nor coreutils, unless their tag says debug. */
const isDistroless = (image: string): boolean =>
  /(^|[/.-])distroless([/.-]|$)|^scratch$/.test(image) && !/:[^/]*debug/.test(image);

const programsOfDistributions = /^(.*\/)?((ba|da|a|z|k)?sh|sleep|kill|killall|pkill|cat|echo|touch|rm|true|curl|wget)$/;

/** tcpSocket is in the API, but the kubelet has no code for it as a hook (SIGNALS.md trap 11). */
const impossibleHooks = ofContainer((container) => {
  const { hook, image } = container;
  const of = `the preStop hook of ${container.name}`;
  const fails = (how: string, advice: string) =>
    warning('prestop-failed', `${of} ${how}`, { ...atHook(container), advice });
  if (hook?.kind === 'tcpSocket')
    return fails('always fails: the kubelet runs no tcpSocket hooks', 'Use sleep, exec or httpGet.');
  const [program = ''] = hook?.command ?? [];
  if (!programsOfDistributions.test(program) || !isDistroless(image)) return undefined;
  return fails(
    `runs \`${program}\`, which a distroless image does not have: it fails at once`,
    'Use a sleep hook (Kubernetes 1.30 and later), or a binary that the image has.',
  );
});

const longHooks = ofContainer((container, spec) => {
  const { graceSeconds: grace } = spec;
  const { minSeconds: seconds, isPlainSleep } = container.hook ?? {};
  if (seconds === undefined || grace === 0 || seconds < grace / 2) return undefined;
  const atLeast = isPlainSleep ? '' : 'at least ';
  const takes = `the preStop hook of ${container.name} takes ${atLeast}${seconds}s of the ${grace}s grace period`;
  const details = { ...atHook(container), advice: adviceFor(spec, seconds) };
  if (seconds >= grace) {
    const end = `it is cut off, SIGTERM comes as the grace period ends, and SIGKILL ${minSecondsAfterHook}s later`;
    return error('prestop-cut-off', `${takes}: ${end}`, details);
  }
  const left = Math.max(minSecondsAfterHook, grace - Math.floor(seconds));
  const minimum = left === minSecondsAfterHook ? " (the kubelet's minimum)" : '';
  const code = seconds >= grace * 0.75 ? 'grace-nearly-spent' : 'prestop-heavy';
  return warning(code, `${takes} and leaves it ${left}s${minimum}`, details);
});

function adviceFor({ graceSeconds, specGraceSeconds }: ShutdownSpec, hookSeconds: number): string {
  if (specGraceSeconds !== undefined && graceSeconds < specGraceSeconds)
    return `Delete it with a longer --grace-period (its spec has ${specGraceSeconds}s), or shorten the hook.`;
  const drainSeconds = unmeasuredDrain({ graceSeconds, hookSeconds }, hookSeconds);
  return `Raise terminationGracePeriodSeconds to ${graceFor({ hookSeconds, drainSeconds })}s, or shorten the hook.`;
}

function noGrace({ graceSeconds, podPath }: ShutdownSpec): CheckFinding[] {
  if (graceSeconds > 0) return [];
  const message = 'with a grace period of 0 the object is removed before its containers have ended';
  const advice =
    'Give it at least a second (--grace-period=1), or remove terminationGracePeriodSeconds: 0 from its spec.';
  return [warning('force-deleted', message, { advice, path: [...podPath, 'terminationGracePeriodSeconds'] })];
}

export const hookRules = [noGrace, impossibleHooks, longHooks];
