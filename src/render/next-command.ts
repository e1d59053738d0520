/** What to run next where a deletion was not observed to its end. Pure; `flags`: connection flags behind the command. */
import type { Report } from '../verdict/report.ts';

export interface NextCommand {
  readonly reason: string;
  readonly command: string;
}

/** Undefined where the run saw all there is to see. Unescaped. */
export function nextCommand({ timeline, verdict }: Report, flags: string): NextCommand | undefined {
  const { metadata } = timeline.pod;
  const name = `${metadata.name} -n ${metadata.namespace ?? ''}${flags}`;
  const isGone = timeline.marks.some(({ name: mark }) => mark === 'removed');
  // Exit codes from 128 on are signals: somebody left.
  const wasLeft = verdict.exitCode >= 128;
  if (verdict.outcome === 'not-started' && !wasLeft) return notStarted(timeline, name);
  if (isGone || timeline.mode === 'check') return undefined;
  if (verdict.outcome === 'stuck' || (verdict.outcome === 'unknown' && wasLeft) || verdict.outcome === 'not-started')
    return { reason: 'the pod is still there; resume with', command: `kubectl podexit ${name} --attach` };
  return verdict.outcome === 'unknown'
    ? { reason: 'see whether it is still there', command: `kubectl get pod ${name}` }
    : undefined;
}

function notStarted({ pod, mode }: Report['timeline'], name: string): NextCommand {
  if (pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed')
    return { reason: 'nobody deleted it; its status says more', command: `kubectl describe pod ${name}` };
  // A plain deletion would not respect the PodDisruptionBudget.
  if (mode === 'evict')
    return { reason: 'the eviction was refused; retry with', command: `kubectl podexit ${name} --evict --retry-evict` };
  return { reason: 'nobody deleted it meanwhile; wait again with', command: `kubectl podexit ${name} --attach` };
}
