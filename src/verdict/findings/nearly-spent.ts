/** Findings about containers that ended in time, and only just. */
import type { ContainerExit } from '../../infer/container.ts';
import { between, isBefore } from '../../infer/estimate.ts';
import type { Finding } from '../../model/report.ts';
import { second } from '../../model/span.ts';
import type { Remedy } from '../grace-advice.ts';
import { graceAdvice, loweredGrace } from '../grace-advice.ts';
import type { Scene } from '../scene.ts';
import { graceWords, longestGrace, mainsOf, ranOf } from '../scene.ts';
import { exactSeconds, percent } from '../words.ts';
import { evidenceOf } from './exit.ts';

export const nearlySpentFindings = (scene: Scene): Finding[] =>
  ranOf(scene).flatMap((container) => nearlySpent(scene, container));

const nearly = 0.75;

/** Not killed, but hook and drain together took at least three quarters of the grace. */
function nearlySpent(scene: Scene, container: ContainerExit): Finding[] {
  const { outcome, exit, spec, counted, signal } = container;
  const since = spec.kind === 'sidecar' ? signal : (counted ?? signal);
  if (!exit || exit.provisional || !since || outcome === 'killed' || outcome === 'oom') return [];
  const waited = spec.kind === 'sidecar' ? hookLength(container) : 0;
  const used = between(since, exit.at).lo + waited;
  const share = used / longestGrace(scene);
  if (share < nearly) return [];
  return [
    {
      code: 'grace-nearly-spent',
      severity: 'warning',
      message: `${spec.name} used at least ${percent(share)} of its grace: ${exactSeconds(used)}${graceWords(scene)}`,
      advice: graceAdvice(loweredGrace(scene), nearlyRemedy(scene, container, used)),
      evidence: evidenceOf(container),
    },
  ];
}

function nearlyRemedy(scene: Scene, container: ContainerExit, used: number): Remedy {
  const { spec, hook } = container;
  const needs = used / second / nearly;
  const holder = holderOf(scene, container);
  if (holder) {
    const faster = `make ${holder} exit sooner after its stop signal`;
    const usual = `${spec.name} stops after the main containers, and ${holder} still ran when its hook was over: ${faster}, or raise terminationGracePeriodSeconds.`;
    return { usual, faster, needs };
  }
  const shorter = hookLength(container) * 2 >= used ? 'shorten the preStop hook' : 'shorten the drain';
  // How long a hook that was cut off would have taken nobody knows.
  const usual =
    hook?.outcome === 'cut-off'
      ? 'A slower day ends in SIGKILL: shorten the preStop hook, or set terminationGracePeriodSeconds to more than hook and drain need.'
      : `A slower day ends in SIGKILL: set terminationGracePeriodSeconds to ${Math.ceil((used / second) * 1.5)} or more, or ${shorter}.`;
  return { usual, faster: shorter, needs };
}

/** At least, ms. */
const hookLength = ({ hook }: ContainerExit): number => (hook ? between(hook.start, hook.end).lo : 0);

/** The main container that a sidecar waited for when its own hook was certainly over (SIGNALS.md §2 S7). */
function holderOf(scene: Scene, { spec, hook }: ContainerExit): string | undefined {
  if (spec.kind !== 'sidecar' || !hook) return undefined;
  const later = mainsOf(scene).flatMap(({ spec: { name }, exit }) =>
    exit && isBefore(hook.end, exit.at) ? [{ name, at: exit.at.client.hi }] : [],
  );
  return later.sort((a, b) => b.at - a.at)[0]?.name;
}
