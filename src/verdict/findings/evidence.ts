/** What may have been missed, where it touches an instant that is reported. */
import type { StreamName } from '../../model/observation.ts';
import type { Finding } from '../../model/report.ts';
import { brokenLogs } from '../../infer/broken-logs.ts';
import type { Scene } from '../scene.ts';
import { ranOf } from '../scene.ts';
import { list } from '../words.ts';

export function evidenceFindings(scene: Scene): Finding[] {
  const { trace, exit } = scene;
  const since = exit.deletion.accepted.client.lo;
  const needed = (stream: StreamName) =>
    touches[stream] !== undefined && (stream !== 'logs' || ranOf(scene).length > 0);
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
      message: `something may have been missed: ${list(streams.map((stream) => `${stream} (${touches[stream]})`))}`,
      advice:
        forbidden.length > 0
          ? `Grant ${list(forbidden.map((one) => `${one.value.verb} ${one.value.resource}`))} for the whole picture.`
          : gaps.length + broken.length > 0
            ? 'Run it again on a steadier connection; the gaps are listed in the report.'
            : 'It was gone when it was asked for: begin with --attach before the deletion does.',
      evidence: [...new Set([...gaps, ...refused, ...broken.map(({ ended }) => ended)].map((one) => one.seq))],
    },
  ];
}

/** Which instants each stream proves. */
const touches: Partial<Record<StreamName, string>> = {
  pod: 'exits, removal',
  events: 'when the kubelet began, hooks',
  services: 'routing',
  endpointslices: 'routing',
  logs: 'narrow bounds of signal and exit',
};
