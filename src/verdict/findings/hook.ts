/** Findings about preStop hooks. */
import type { ContainerExit } from '../../infer/container.ts';
import { between, isBefore } from '../../infer/estimate.ts';
import type { HookFacts } from '../../infer/container.ts';
import type { Finding } from '../../model/report.ts';
import { second } from '../../model/span.ts';
import { graceAdvice, isForced, loweredGrace } from '../grace-advice.ts';
import type { Scene } from '../scene.ts';
import { firmOf, graceWords, longestGrace } from '../scene.ts';
import { percent, seconds } from '../words.ts';

export const hookFindings = (scene: Scene): Finding[] =>
  firmOf(scene).flatMap((container) => [...failed(container), ...cutOff(scene, container), ...heavy(scene, container)]);

function failed(container: ContainerExit): Finding[] {
  const { hook, spec } = container;
  if (hook && mayHaveDied(container)) return [perhapsFailed(hook, spec.name)];
  if (hook?.outcome !== 'failed') return [];
  const invalid = hook.kind === 'tcpSocket';
  const length = between(hook.start, hook.end);
  return [
    {
      code: 'prestop-failed',
      severity: 'warning',
      message: invalid
        ? `the preStop hook of ${spec.name} is a tcpSocket, which Kubernetes does not run: it fails at once`
        : `the preStop hook (${hook.kind}) of ${spec.name} failed ${seconds(length)} after it began`,
      advice: failedAdvice[hook.kind],
      evidence: [...new Set([...hook.start.evidence, ...hook.end.evidence])],
    },
  ];
}

const failedAdvice: Record<HookFacts['kind'], string> = {
  exec: 'The API does not say why. Run the hook by hand with kubectl exec; the stop signal followed at once, as if there were no hook.',
  httpGet:
    'The API does not say why. Ask its path from inside the pod with kubectl exec; the stop signal followed at once, as if there were no hook.',
  tcpSocket: 'Use sleep, exec or httpGet instead.',
  sleep:
    'The kubelet of this node may be older than the sleep action is (beta, and on, since 1.30): use exec with sleep there. The stop signal followed at once, as if there were no hook.',
};

/** It may have failed by itself; what had certainly lost its container by then is no failure of the hook. */
const mayHaveDied = ({ hook, exit }: ContainerExit): boolean =>
  hook?.mayHaveDied === true && !(exit && isBefore(exit.at, hook.end));

const perhapsFailed = (hook: HookFacts, name: string): Finding => ({
  code: 'prestop-failed',
  severity: 'warning',
  message: `the preStop hook (${hook.kind}) of ${name} failed ${seconds(between(hook.start, hook.end))} after it began: by itself, or because ${name} ended just then and took it along`,
  advice:
    'A hook that makes the application end and waits for that dies with it, which does no harm. If it does not, run it by hand with kubectl exec.',
  evidence: [...new Set([...hook.start.evidence, ...hook.end.evidence])],
});

function cutOff(scene: Scene, container: ContainerExit): Finding[] {
  const { hook, spec } = container;
  if (hook?.outcome !== 'cut-off') return [];
  const wanted = hook.sleepSeconds === undefined ? '' : ` (it wanted ${hook.sleepSeconds} s)`;
  const least =
    hook.sleepSeconds === undefined ? 'the hook and the drain together' : `${hook.sleepSeconds} s plus the drain`;
  return [
    {
      code: 'prestop-cut-off',
      severity: isForced(scene) ? 'warning' : 'error',
      message: `the preStop hook (${hook.kind}) of ${spec.name} still ran when the grace${graceWords(scene)} ended${wanted}${leftWords(container)}`,
      advice: graceAdvice(loweredGrace(scene), {
        usual: `Shorten the hook, or set terminationGracePeriodSeconds above ${least}.`,
        faster: 'shorten the hook',
        ...(hook.sleepSeconds === undefined ? {} : { needs: hook.sleepSeconds }),
      }),
      evidence: [...new Set([...hook.start.evidence, ...hook.end.evidence])],
    },
  ];
}

/** A sleep goes on when its container has ended by itself, and no signal follows then (SIGNALS.md §2 S6, S8). */
function leftWords({ hook, signal, exit, spec }: ContainerExit): string {
  if (hook && exit && !exit.provisional && isBefore(exit.at, hook.end))
    return `: it held the pod until then, though ${spec.name} had already exited`;
  return signal ? '; the application was left with 2 s after its stop signal' : '';
}

const heavyShare = 0.5;

function heavy(scene: Scene, { hook, signal, spec }: ContainerExit): Finding[] {
  if (!hook || (hook.outcome !== 'completed' && hook.outcome !== 'failed')) return [];
  const lasted = between(hook.start, hook.end);
  const share = lasted.lo / longestGrace(scene);
  if (share < heavyShare) return [];
  return [
    {
      code: 'prestop-heavy',
      severity: 'warning',
      message: `the preStop hook of ${spec.name} took ${seconds(lasted)}, at least ${percent(share)} of the grace${signal ? ', before the stop signal was even sent' : ''}`,
      advice: graceAdvice(loweredGrace(scene), {
        usual:
          'Grace counts from the start of the hook: raise terminationGracePeriodSeconds by the length of the hook, or shorten it.',
        faster: 'shorten the hook',
        needs: lasted.lo / second / heavyShare,
      }),
      evidence: [...new Set([...hook.start.evidence, ...hook.end.evidence])],
    },
  ];
}
