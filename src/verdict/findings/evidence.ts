/** What may have been missed, where it touches an instant that is reported. */
import type { StreamName } from '../../model/observation.ts';
import type { FindingDraft } from '../finding.ts';
import { brokenLogs } from '../../infer/gaps.ts';
import { ranIn, type RuleInput } from '../rule-input.ts';
import { list } from '../words.ts';

export function evidenceFindings(input: RuleInput): FindingDraft[] {
  const { trace, exit } = input;
  const since = exit.deletion.accepted.client.lo;
  const needed = (stream: StreamName) =>
    touches[stream] !== undefined && (stream !== 'logs' || ranIn(input).length > 0);
  const gaps = trace.gaps.filter((gap) => needed(gap.value.stream) && (gap.value.to ?? Infinity) > since);
  const refused = trace.refused.filter((one) => needed(one.value.stream));
  // A kubelet that has dropped a log answers 404: no right would bring it back.
  const forbidden = refused.filter((one) => one.value.status !== 404);
  const broken = needed('logs') ? brokenLogs(trace) : [];
  const streams = [
    ...new Set([...[...gaps, ...refused].map((one) => one.value.stream), ...broken.map(() => 'logs' as const)]),
  ];
  if (streams.length === 0) return [];
  return [
    {
      code: 'evidence-lost',
      severity: 'warning',
      message: `${list(streams.map((stream) => touches[stream]?.resource ?? stream))} unavailable${forbidden.length > 0 ? ' (no access)' : ' for a time'}: ${list([...new Set(streams.flatMap((stream) => touches[stream]?.effect ?? []))])}`,
      advice:
        forbidden.length > 0
          ? `Grant ${list([...new Set(forbidden.map((one) => `${one.value.verb} ${one.value.resource}`))])} (deploy/rbac.yaml).`
          : gaps.length + broken.length > 0
            ? 'Run podexit closer to the cluster; -v lists the gaps.'
            : 'The pod was gone when its logs were asked for: start with --attach before the deletion.',
      evidence: [...new Set([...gaps, ...refused, ...broken.map(({ ended }) => ended)].map((one) => one.seq))],
    },
  ];
}

/** What each stream would have shown. */
const touches: Partial<Record<StreamName, { resource: string; effect: string }>> = {
  pod: { resource: 'pod', effect: 'exits and removal are approximate' },
  events: { resource: 'Events', effect: 'the start of the termination and hooks are approximate' },
  services: { resource: 'Services', effect: 'traffic was not observable' },
  endpointslices: { resource: 'EndpointSlices', effect: 'traffic was not observable' },
  logs: { resource: 'logs', effect: 'SIGTERM and exit times are approximate' },
};
