/** How the containers would stop: hooks, the budget that they leave, PID 1, sidecars, grace. */
import { minimumGrace } from '../../../infer/grace.ts';
import { containersOf, hookOf } from '../../../model/pod.ts';
import type { ContainerSpec } from '../../../model/pod.ts';
import type { Finding } from '../../../model/report.ts';
import { second } from '../../../model/span.ts';
import { graceAdvice } from '../../grace-advice.ts';
import { list, percent } from '../../words.ts';
import type { CheckFacts } from '../facts.ts';
import { cite, graceOf, isIdle, loweredOf, runs } from '../facts.ts';
import { shellFateOf } from '../shell-line.ts';

export const stoppingRules = (facts: CheckFacts): Finding[] => [
  ...noGrace(facts),
  ...stopped(facts).flatMap((one) => [...hookThatFails(facts, one), ...budget(facts, one)]),
  ...[...runningInits(facts), ...stopped(facts)].flatMap((one) => shell(facts, one)),
  ...sharedGrace(facts),
];

/** Containers that get a preStop hook and a stop signal. */
const stopped = (facts: CheckFacts): ContainerSpec[] =>
  containersOf(facts.pod).filter(({ kind, name }) => (kind === 'container' || kind === 'sidecar') && runs(facts, name));

/** An init container gets a stop signal too where it still runs; a hook it cannot have. */
const runningInits = (facts: CheckFacts): ContainerSpec[] =>
  containersOf(facts.pod).filter(({ kind, name }) => kind === 'init' && runs(facts, name));

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
  const advice = graceAdvice(loweredOf(facts), {
    usual: `Raise terminationGracePeriodSeconds by about ${hook} s, or shorten the hook.`,
    faster: 'shorten the hook',
    needs: hook,
  });
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
  const left = `leaves ${leftOf(grace, hook)} for ${name} after its stop signal`;
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

/** The kubelet counts a hook in whole seconds, and gives 2 s after it whatever it took (SIGNALS.md §2 S6, S8). */
function leftOf(grace: number, hook: number): string {
  const rest = grace - Math.floor(hook);
  return rest < leastLeft ? `${leastLeft} s (the least that the kubelet gives)` : `${rest} s`;
}

const leastLeft = minimumGrace / second;

function shell(facts: CheckFacts, { name, container }: ContainerSpec): Finding[] {
  if (!container.shell) return [];
  const killed = `${name} is killed when the grace of ${graceOf(facts)} s ends`;
  const depends = shellFateOf(facts.commandLines.get(name) ?? '') === 'depends';
  return [
    {
      code: 'no-signal-handling',
      severity: depends ? 'info' : 'warning',
      message: depends
        ? `forecast: PID 1 of ${name} is started as a shell, and it depends on the shell whether its command gets the stop signal: busybox, bash and newer dash become the last simple command of their line, and run a sourced script themselves; where the shell stays as it is, ${killed}`
        : `forecast: PID 1 of ${name} may be a shell with neither exec nor trap: such a shell does not pass the stop signal on, so that ${killed}`,
      advice: 'Start the application by "exec …" or without a shell, or put an init such as tini in front of it.',
      evidence: cite(facts, 'pod'),
    },
  ];
}

/** A sidecar waits for no main container that does not run: then there is nobody to share with. */
function sharedGrace(facts: CheckFacts): Finding[] {
  const busy = containersOf(facts.pod).filter(({ name }) => !isIdle(facts, name));
  const sidecars = busy.filter(({ kind }) => kind === 'sidecar');
  if (sidecars.length === 0 || !busy.some(({ kind }) => kind === 'container')) return [];
  return [
    {
      code: 'sidecar-killed',
      severity: 'info',
      message: `forecast: ${list(sidecars.map(({ name }) => name))} ${sidecars.length === 1 ? 'stops' : 'stop'} after the main containers, within what these leave of the ${graceOf(facts)} s; what is then still running is killed`,
      evidence: cite(facts, 'pod'),
    },
  ];
}
