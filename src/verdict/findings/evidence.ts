/** A finding about missing evidence, if it affects a reported instant. */
import type { StreamName } from '../../model/observation.ts';
import type { Fact } from '../../model/trace.ts';
import words from '../data/words.json' with { type: 'json' };
import type { Rules } from '../finding.ts';
import { brokenLogs } from '../../infer/arrival.ts';
import { ranContainers } from '../rule-input.ts';
import { list } from '../words.ts';

export const evidenceRules: Rules = {
  'evidence-lost': ({ trace, timeline, deletion }) => {
    const since = deletion.accepted.client.lo;
    const hasRun = ranContainers(timeline).length > 0;
    const isNeeded = ({ value: { stream } }: Fact<{ stream: StreamName }>) =>
      effects[stream] !== undefined && (stream !== 'logs' || hasRun);
    const gaps = trace.gaps.filter((gap) => isNeeded(gap) && (gap.value.to ?? Infinity) > since);
    const refused = trace.refused.filter(isNeeded);
    // 404: the kubelet has dropped the log, and no permission would bring it back.
    const forbidden = refused.filter(({ value }) => value.status !== 404);
    const broken = hasRun ? brokenLogs(trace) : [];
    // The last extent of a stream counts.
    const extents = new Map<StreamName, string>([
      ...gaps.map(({ value }) => [value.stream, 'for a time'] as const),
      ...gaps.flatMap(({ value }) => (value.to === undefined ? [[value.stream, 'to the end'] as const] : [])),
      ...broken.map(() => ['logs', 'to the end'] as const),
      ...refused.map(
        ({ value }) => [value.stream, value.stream === 'logs' ? '(no longer kept)' : 'to the end'] as const,
      ),
      ...forbidden.map(({ value }) => [value.stream, '(no access)'] as const),
    ]);
    if (extents.size === 0) return undefined;
    const missing = [...extents].flatMap(([stream, extent]) => ({ ...effects[stream], extent }));
    const unavailable = [...new Set(extents.values())].map(
      (extent) =>
        `${list(missing.flatMap((one) => (one.extent === extent ? (one.resource ?? []) : [])))} unavailable ${extent}`,
    );
    const rights = [...new Set(forbidden.map(({ value: { verb, resource } }) => `${verb} ${resource}`))];
    return {
      message: `${unavailable.join(', ')}: ${list([...new Set(missing.flatMap(({ effect }) => effect ?? []))])}`,
      advice:
        rights.length > 0
          ? `Grant ${list(rights)} (deploy/rbac.yaml).`
          : gaps.length + broken.length > 0
            ? 'Run podexit closer to the cluster; -v lists the gaps.'
            : 'The kubelet drops the logs of removed containers: start with --attach before the deletion.',
      evidence: [...gaps, ...refused, ...broken].map(({ seq }) => seq),
    };
  },
};

const effects: Partial<Record<StreamName, { resource: string; effect: string }>> = words.lostStreams;
