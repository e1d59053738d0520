/** How the containers would stop: hooks, the budget that they leave, PID 1, sidecars, grace. */
import { containersOf, hookOf } from '../../../trace/pod.ts';
import type { ContainerSpec } from '../../../trace/pod.ts';
import type { Finding } from '../../../trace/report.ts';
import { percent } from '../../words.ts';
import type { CheckFacts } from '../facts.ts';
import { cite, graceOf } from '../facts.ts';

export const stoppingRules = (facts: CheckFacts): Finding[] => [
  ...noGrace(facts),
  ...stopped(facts).flatMap((one) => [...hookThatFails(facts, one), ...budget(facts, one), ...shell(facts, one)]),
  ...sharedGrace(facts),
];

/** Containers that get a preStop hook and a stop signal. */
const stopped = ({ pod }: CheckFacts): ContainerSpec[] =>
  containersOf(pod).filter(({ kind }) => kind === 'container' || kind === 'sidecar');

function noGrace(facts: CheckFacts): Finding[] {
  if (graceOf(facts) > 0) return [];
  return [
    {
      code: 'force-deleted',
      severity: 'warning',
      message: 'forecast: with a grace of 0 the object is removed before its containers have ended',
      advice: 'Give it at least a second (--grace-period=1), or remove terminationGracePeriodSeconds: 0 from its spec.',
      evidence: cite(facts, 'pod'),
    },
  ];
}

/** tcpSocket is in the API, but the kubelet has no code for it as a hook (SIGNALS.md trap 11). */
function hookThatFails(facts: CheckFacts, { name, container }: ContainerSpec): Finding[] {
  if (hookOf(container)?.kind !== 'tcpSocket') return [];
  return [
    {
      code: 'prestop-failed',
      severity: 'warning',
      message: `forecast: the preStop hook of ${name} always fails: the kubelet runs no tcpSocket hooks`,
      advice: 'Use sleep, exec or httpGet.',
      evidence: cite(facts, 'pod'),
    },
  ];
}

/** grace − known preStop is all that the application has. */
function budget(facts: CheckFacts, { name }: ContainerSpec): Finding[] {
  const hook = facts.hookSeconds.get(name);
  const grace = graceOf(facts);
  if (hook === undefined || grace === 0 || hook < grace / 2) return [];
  const rest = `${hook} s of ${grace} s (${percent(hook / grace)})`;
  const advice = `Raise terminationGracePeriodSeconds by about ${hook} s, or shorten the hook.`;
  const evidence = cite(facts, 'pod');
  if (hook >= grace)
    return [
      {
        code: 'prestop-cut-off',
        severity: 'error',
        message: `forecast: the preStop hook of ${name} takes ${rest}: it is cut off, and the stop signal comes as the grace ends`,
        advice,
        evidence,
      },
    ];
  const left = `leaves ${grace - hook} s for ${name} after its stop signal`;
  const nearly = hook >= grace * 0.75;
  return [
    {
      code: nearly ? 'grace-nearly-spent' : 'prestop-heavy',
      severity: 'warning',
      message: `forecast: the preStop hook takes ${rest} and ${left}`,
      advice,
      evidence,
    },
  ];
}

function shell(facts: CheckFacts, { name, container }: ContainerSpec): Finding[] {
  if (!container.shell) return [];
  return [
    {
      code: 'no-signal-handling',
      severity: 'warning',
      message: `forecast: PID 1 of ${name} may be a shell with neither exec nor trap: such a shell does not pass the stop signal on, so that ${name} is killed when the grace of ${graceOf(facts)} s ends`,
      advice: 'Start the application by "exec …" or without a shell, or put an init such as tini in front of it.',
      evidence: cite(facts, 'pod'),
    },
  ];
}

function sharedGrace(facts: CheckFacts): Finding[] {
  const sidecars = stopped(facts).filter(({ kind }) => kind === 'sidecar');
  if (sidecars.length === 0) return [];
  return [
    {
      code: 'sidecar-killed',
      severity: 'info',
      message: `forecast: ${sidecars.map(({ name }) => name).join(', ')} stop after the main containers, within what these leave of the ${graceOf(facts)} s; what is then still running is killed`,
      evidence: cite(facts, 'pod'),
    },
  ];
}
