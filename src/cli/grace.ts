import { usageError } from './usage.ts';

export interface GraceFlags {
  gracePeriod?: number | undefined;
  now?: boolean | undefined;
  force?: boolean | undefined;
}

export interface Grace {
  /** Sent with the request; null leaves it to the pod. */
  seconds: number | null;
  /** A flag named it: then it is asked for even where the pod is already terminating. */
  named: boolean;
}

/** kubectl's meaning of the three flags (kubectl delete.go): negative is unset, 0 without --force becomes 1. */
export function decideGrace({ gracePeriod, now = false, force = false }: GraceFlags): Grace {
  const asked = gracePeriod !== undefined && gracePeriod >= 0 ? gracePeriod : undefined;
  if (now && asked !== undefined)
    throw usageError(
      'grace',
      '--now and --grace-period cannot be used together',
      'Use --now, or --grace-period=1 which means the same.',
    );
  if (now && force)
    throw usageError(
      'grace',
      '--force and --now cannot be used together',
      'Use --force for grace 0, or --now for grace 1.',
    );
  if (force && asked !== undefined && asked > 0)
    throw usageError(
      'grace',
      '--force and --grace-period greater than 0 cannot be used together',
      'Leave out --force for a graceful deletion.',
    );
  if (now) return { seconds: 1, named: true };
  if (force) return { seconds: 0, named: true };
  if (asked === undefined) return { seconds: null, named: false };
  return { seconds: asked === 0 ? 1 : asked, named: true };
}
