import type { KubeObject } from '../data/kube-object.ts';
import type { Cue } from './story.ts';

/**
 * What this run's clients changed about a pod and the recording knows nothing of. Later recorded changes of that pod
 * are amended by it, so that nothing a client wrote is undone by the play.
 */
export interface Amendment {
  /** A grace that a client shortened, with the deadline it made. */
  deadline?: { deletionTimestamp: string; deletionGracePeriodSeconds: number };
  finalizers?: string[];
  /** Removed by a client before the recording has it removed. */
  gone?: boolean;
}

type Change = Pick<Extract<Cue, { kind: 'change' }>, 'type'> & { object: KubeObject };

/** The change as it has to be written, or undefined where nothing is left to change. */
export function amended(change: Change, amendment: Amendment | undefined): Change | undefined {
  if (amendment === undefined) return change;
  if (amendment.gone === true) return undefined;
  return held(withMetadata(change, amendment), amendment);
}

function withMetadata({ type, object }: Change, { deadline, finalizers }: Amendment): Change {
  const grace = object.metadata.deletionGracePeriodSeconds;
  const isShorter = deadline !== undefined && grace !== undefined && deadline.deletionGracePeriodSeconds < grace;
  const metadata = {
    ...object.metadata,
    ...(isShorter && deadline),
    ...(finalizers && { finalizers }),
  };
  if (finalizers?.length === 0) delete metadata.finalizers;
  return { type, object: { ...object, metadata } };
}

/** Finalizers alone decide whether a pod that has no grace left stays. */
function held({ type, object }: Change, { finalizers }: Amendment): Change {
  if (finalizers === undefined || object.metadata.deletionGracePeriodSeconds !== 0) return { type, object };
  return { type: finalizers.length > 0 ? 'MODIFIED' : 'DELETED', object };
}
