/** A finding about missing evidence, if it affects a reported instant. */
import type { StreamName } from '../../model/observation.ts';
import type { Fact } from '../../model/trace.ts';
import type { Rule } from '../finding.ts';
import { brokenLogs } from '../../infer/gaps.ts';
import { ranContainers } from '../rule-input.ts';
import { list } from '../words.ts';

export const evidenceLost: Rule = ({ trace, timeline, exit }) => {
  const since = exit.deletion.accepted.client.lo;
  const hasRun = ranContainers(timeline).length > 0;
  const isNeeded = ({ value: { stream } }: Fact<{ stream: StreamName }>) =>
    effects[stream] !== undefined && (stream !== 'logs' || hasRun);
  const gaps = trace.gaps.filter((gap) => isNeeded(gap) && (gap.value.to ?? Infinity) > since);
  const refused = trace.refused.filter(isNeeded);
  // 404: the kubelet has dropped the log, and no permission would bring it back.
  const forbidden = refused.filter(({ value }) => value.status !== 404);
  const broken = hasRun ? brokenLogs(trace) : [];
  const brokenStreams: StreamName[] = broken.map(() => 'logs');
  const streams = [...streamsOf([...gaps, ...refused]), ...brokenStreams];
  if (streams.length === 0) return undefined;
  const unavailable = unavailableText([
    ['(no access)', streamsOf(forbidden)],
    ['(no longer kept)', streamsOf(refused).filter((stream) => stream === 'logs')],
    [
      'to the end',
      [...streamsOf([...refused, ...gaps.filter(({ value }) => value.to === undefined)]), ...brokenStreams],
    ],
    ['for a time', streams],
  ]);
  const missing = unique(streams).flatMap((stream) => effects[stream] ?? []);
  const rights = unique(forbidden.map(({ value: { verb, resource } }) => `${verb} ${resource}`));
  return {
    code: 'evidence-lost',
    severity: 'warning',
    message: `${unavailable}: ${list(unique(missing.map(({ effect }) => effect)))}`,
    advice:
      rights.length > 0
        ? `Grant ${list(rights)} (deploy/rbac.yaml).`
        : gaps.length + broken.length > 0
          ? 'Run podexit closer to the cluster; -v lists the gaps.'
          : 'The kubelet drops the logs of removed containers: start with --attach before the deletion.',
    evidence: [...gaps, ...refused, ...broken.map(({ ended }) => ended)].map(({ seq }) => seq),
  };
};

const streamsOf = (facts: readonly Fact<{ readonly stream: StreamName }>[]): StreamName[] =>
  facts.map(({ value }) => value.stream);

/** `Events and logs unavailable (no access), pod unavailable for a time`: each stream at the first extent that it has. */
function unavailableText(extents: readonly (readonly [extent: string, streams: readonly StreamName[]])[]): string {
  const listed = new Set<StreamName>();
  const texts = extents.flatMap(([extent, streams]) => {
    const own = unique(streams).filter((stream) => !listed.has(stream));
    own.forEach((stream) => listed.add(stream));
    const resources = own.flatMap((stream) => effects[stream]?.resource ?? []);
    return resources.length > 0 ? [`${list(resources)} unavailable ${extent}`] : [];
  });
  return texts.join(', ');
}

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** What is unavailable or approximate without a stream. */
const effects: Partial<Record<StreamName, { resource: string; effect: string }>> = {
  pod: { resource: 'pod', effect: 'exits and removal are approximate' },
  events: { resource: 'Events', effect: 'the start of the termination and hooks are approximate' },
  services: { resource: 'Services', effect: 'traffic was not observable' },
  endpointslices: { resource: 'EndpointSlices', effect: 'traffic was not observable' },
  logs: { resource: 'logs', effect: 'SIGTERM and exit times are approximate' },
};
