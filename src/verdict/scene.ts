/** What rules look at. */
import type { ContainerExit } from '../trace/infer/container.ts';
import type { Exit, Timeline } from '../trace/timeline.ts';
import type { Trace } from '../trace/trace.ts';
import { isFirm } from '../trace/view/told.ts';

export interface Scene {
  readonly trace: Trace;
  readonly timeline: Timeline;
  readonly exit: Exit;
}

/** Containers whose end makes the outcome; sidecars only raise findings (DESIGN.md §4). */
export const mainsOf = ({ exit }: Scene): ContainerExit[] =>
  exit.containers.filter((one) => one.ran && (one.spec.kind === 'container' || one.spec.kind === 'init'));

/** Those whose hook and end nothing will take back any more (view/told.ts). */
export const firmOf = (scene: Scene): ContainerExit[] => ranOf(scene).filter((one) => isFirm(scene.trace, one));

export const ranOf = ({ exit }: Scene): ContainerExit[] => exit.containers.filter((one) => one.ran);

/** The grace that shares are counted against, ms; never 0. Where it is not certain, the longest. */
export const graceMs = ({ exit }: Scene): number => Math.max(exit.deletion.grace, exit.kubelet.grace.max) * 1000;
