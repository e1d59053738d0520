/** What rules look at. */
import type { ContainerExit } from '../infer/container.ts';
import type { Exit, Conclusions } from '../infer/conclusions.ts';
import type { Trace } from '../model/trace.ts';
import { isFirm } from '../infer/view/told.ts';
import { exactSeconds } from './words.ts';

export interface Scene {
  readonly trace: Trace;
  readonly timeline: Conclusions;
  readonly exit: Exit;
}

/** Containers whose end makes the outcome; sidecars only raise findings. */
export const mainsOf = ({ exit }: Scene): ContainerExit[] =>
  exit.containers.filter((one) => one.ran && (one.spec.kind === 'container' || one.spec.kind === 'init'));

/** Those whose hook and end nothing will take back any more (view/told.ts). */
export const firmOf = (scene: Scene): ContainerExit[] => ranOf(scene).filter((one) => isFirm(scene.trace, one));

/** The pod went with all of its kind: its namespace or its owner was deleted, and nothing is meant to follow it. */
export const isWhole = ({ exit }: Scene): boolean =>
  ['namespace-deletion', 'owner-deleted'].includes(exit.trigger.kind);

export const ranOf = ({ exit }: Scene): ContainerExit[] => exit.containers.filter((one) => one.ran);

/**
 * What shares are counted against, ms; never 0: the kubelet's grace, which is the first DELETE's only where nobody had
 * lowered it before it began (SIGNALS.md §1 "Repeat delete"). As long as it can have been: "at least" needs that.
 */
export const longestGrace = ({ exit }: Scene): number => exit.kubelet.grace.max * 1000;

/** As short as it can have been: "at most" needs that. */
export const shortestGrace = ({ exit }: Scene): number => exit.kubelet.grace.min * 1000;

/** Behind "grace": ` of 30 s`, ` of at most 30 s`, and nothing where no end of it is known. */
export function graceWords(scene: Scene): string {
  const [least, most] = [shortestGrace(scene), longestGrace(scene)];
  if (!Number.isFinite(most)) return '';
  return least === most ? ` of ${exactSeconds(most)}` : ` of at most ${exactSeconds(most)}`;
}
