/** preStop hooks against the grace period: SIGNALS.md §2 S6 to S8. */
import type { CheckFinding, Rule } from '../finding.ts';
import { isDistroless } from '../images.ts';
import type { ContainerSpec, Hook, ShutdownSpec } from '../shutdown-spec.ts';
import { graceFor, unmeasuredDrain } from '../../verdict/shutdown-numbers.ts';
import { signalled } from './signals.ts';

/** The least that the kubelet leaves between the end of a hook and SIGKILL, in seconds (SIGNALS.md §2 S8). */
const leastAfterHook = 2;

const hooked = (spec: ShutdownSpec): (ContainerSpec & { hook: Hook })[] =>
  signalled(spec).flatMap((one) => (one.hook ? [{ ...one, hook: one.hook }] : []));

const hookPath = ({ path }: ContainerSpec) => [...path, 'lifecycle', 'preStop'];

/** tcpSocket is in the API, but the kubelet has no code for it as a hook (SIGNALS.md trap 11). */
function impossible(spec: ShutdownSpec): CheckFinding[] {
  return hooked(spec).flatMap((one) => {
    const base = { code: 'prestop-failed', severity: 'warning', container: one.name, path: hookPath(one) } as const;
    if (one.hook.kind === 'tcpSocket')
      return {
        ...base,
        message: `the preStop hook of ${one.name} always fails: the kubelet runs no tcpSocket hooks`,
        advice: 'Use sleep, exec or httpGet.',
      };
    if (one.hook.kind !== 'exec' || !isDistroless(one.image)) return [];
    return {
      ...base,
      message: `the preStop hook of ${one.name} runs \`${one.hook.command[0] ?? ''}\`, which a distroless image does not have: it fails at once`,
      advice: 'Use a sleep hook (Kubernetes 1.30 and later), or a binary that the image has.',
    };
  });
}

function budget(spec: ShutdownSpec): CheckFinding[] {
  const grace = spec.graceSeconds;
  return hooked(spec).flatMap((one) => {
    const seconds = one.hook.leastSeconds;
    if (seconds === undefined || grace === 0 || seconds < grace / 2) return [];
    const takes = `${one.hook.isPlainSleep ? '' : 'at least '}${seconds}s of the ${grace}s grace period`;
    const base = { container: one.name, path: hookPath(one), advice: adviceFor(spec, seconds) };
    if (seconds >= grace)
      return {
        ...base,
        code: 'prestop-cut-off' as const,
        severity: 'error' as const,
        message: `the preStop hook of ${one.name} takes ${takes}: it is cut off, SIGTERM comes as the grace period ends, and SIGKILL ${leastAfterHook}s later`,
      };
    const left = Math.max(leastAfterHook, grace - Math.floor(seconds));
    return {
      ...base,
      code: seconds >= grace * 0.75 ? ('grace-nearly-spent' as const) : ('prestop-heavy' as const),
      severity: 'warning' as const,
      message: `the preStop hook of ${one.name} takes ${takes} and leaves it ${left}s${left === leastAfterHook ? " (the kubelet's minimum)" : ''}`,
    };
  });
}

const adviceFor = (spec: ShutdownSpec, seconds: number): string =>
  spec.specGraceSeconds !== undefined && spec.graceSeconds < spec.specGraceSeconds
    ? `Delete it with a longer --grace-period (its spec has ${spec.specGraceSeconds}s), or shorten the hook.`
    : `Raise terminationGracePeriodSeconds to ${graceWith(spec, seconds)}s, or shorten the hook.`;

const graceWith = ({ graceSeconds }: ShutdownSpec, hookSeconds: number): number =>
  graceFor({ hookSeconds, drainSeconds: unmeasuredDrain({ graceSeconds, hookSeconds }, hookSeconds) });

function noGrace(spec: ShutdownSpec): CheckFinding[] {
  if (spec.graceSeconds > 0) return [];
  return [
    {
      code: 'force-deleted',
      severity: 'warning',
      message: 'with a grace period of 0 the object is removed before its containers have ended',
      advice: 'Give it at least a second (--grace-period=1), or remove terminationGracePeriodSeconds: 0 from its spec.',
      path: [...spec.podPath, 'terminationGracePeriodSeconds'],
    },
  ];
}

export const hookRules: readonly Rule[] = [
  { about: 'a grace period of 0', find: noGrace },
  { about: 'a preStop hook that cannot run', find: impossible },
  { about: 'a preStop hook that takes half of the grace period or more', find: budget },
];
