/** What of a raw recording a live run would have watched. */
import type { Row } from '../recording/rows.ts';
import type { StreamName } from '../model/observation.ts';
import type { Subject } from './raw-subject.ts';
import { listsOf, podsOf, textOf } from './raw-subject.ts';
import type { Raw, Target } from './watched.ts';
import {
  asRaw,
  candidateServices,
  metadataOf,
  namesOf,
  nodeTargets,
  ownerOf,
  ownerTargets,
  podEventsTarget,
  podTarget,
  selects,
  servicesTarget,
  siblingTarget,
  sliceTarget,
} from './watched.ts';

/** The same targets that a live run finds step by step: the owner's owner and the siblings hang on what was listed. */
export function targetsOf(rows: readonly Row[], { namespace, name }: Subject): Target[] {
  const pod = podsOf(rows).find((one) => metadataOf(one)['name'] === name) ?? {};
  const services = candidateServices(listsOf(rows, 'services'), pod);
  const names = namesOf(services);
  const slices = sliceTarget(namespace, names);
  const node = asRaw(pod['spec'])['nodeName'];
  const listed = (owner: { kind: string; name: string }): Raw | undefined =>
    listsOf(rows, ownerTargets(namespace, owner)[0]?.resource ?? '').find(
      (one) => metadataOf(one)['name'] === owner.name,
    );
  const owner = ownerOf(pod);
  const direct = owner && listed(owner);
  const above = direct && ownerOf(direct);
  const top = above ? listed(above) : direct;
  const siblings = top && siblingTarget(namespace, top);
  return [
    podTarget(namespace, name),
    { ...servicesTarget(namespace), labelSelector: {}, keep: new Set(names) } as Target,
    podEventsTarget(namespace, name),
    ...(slices ? [slices] : []),
    ...(typeof node === 'string' ? nodeTargets(node) : []),
    ...(owner ? ownerTargets(namespace, owner) : []),
    ...(above ? ownerTargets(namespace, above) : []),
    ...(siblings ? [{ ...siblings, stream: 'siblings' as const }] : []),
  ];
}

export const streamsOf = (targets: readonly Target[]): StreamName[] => [
  ...new Set(targets.map(({ stream }) => stream)),
];

/** Whether a live run would have received the object by this target. */
export const takes = (target: Target & { keep?: Set<string> }, object: Raw): boolean =>
  target.keep ? target.keep.has(textOf(metadataOf(object)['name'])) : selects(target, object);

const kinds: Partial<Record<StreamName, Record<string, string>>> = {
  owner: {
    replicasets: 'ReplicaSet',
    deployments: 'Deployment',
    statefulsets: 'StatefulSet',
    daemonsets: 'DaemonSet',
    jobs: 'Job',
    cronjobs: 'CronJob',
  },
};

/** Items of a list do not say their kind. */
export function withKind(object: Raw, { stream, resource }: Target): Raw {
  const kind = kinds[stream]?.[resource];
  return kind === undefined || typeof object['kind'] === 'string' ? object : { ...object, kind };
}
