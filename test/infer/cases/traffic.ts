/** The edits and checks of traffic.yaml. */
import { adding, changed, changesOf, listed, markedIn } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { merged } from '../../helpers/object-changes.ts';
import type { Edit } from './case.ts';
import { change, each } from './edits.ts';

type Endpoint = { conditions?: Record<string, unknown> };

const otherPod = (ready: boolean) => ({
  conditions: { ready },
  targetRef: { kind: 'Pod', name: 'other-0', uid: 'uid-other' },
});

const eachEndpoint = (slice: Raw, edit: (one: Endpoint) => Endpoint): Raw => ({
  ...slice,
  endpoints: (slice['endpoints'] as Endpoint[] | null)?.map(edit) ?? null,
});

/** Slices of this IP family have another ready endpoint. */
export const anotherReady = (family: string): Edit =>
  each('endpointslices', (slice) =>
    slice['addressType'] === family
      ? { ...slice, endpoints: [...((slice['endpoints'] ?? []) as unknown[]), otherPod(true)] }
      : slice,
  );

/** Another slice of the Service, with a ready endpoint, is new this long after the first change of its slice. */
export const secondSlice =
  (ms: number): Edit =>
  (all) => {
    const [own] = changesOf(all, 'endpointslices');
    const metadata = { ...own?.object.metadata, name: 'api-second', uid: 'uid-second', managedFields: [] };
    const second = { ...own?.object, metadata, endpoints: [otherPod(true)] };
    return adding(all, changed((own?.at ?? 0) + ms, 'endpointslices', second, 'ADDED'));
  };

/** These conditions are merged into those of every endpoint; null removes one. */
export const conditioned = (conditions: object): Edit =>
  each('endpointslices', (slice) => eachEndpoint(slice, (one) => merged(one, { conditions }) as Endpoint));

/** Before the deletion, endpoints have no conditions. */
export const terseBefore: Edit = (all) => {
  const { at } = markedIn(all);
  return each('endpointslices', (slice, { at: arrived }) =>
    arrived < at ? eachEndpoint(slice, ({ conditions: _all, ...one }) => one) : slice,
  )(all);
};

/** A load balancer clears the pod's readiness gate 0.5 s after the deletion. */
export const gateCleared: Edit = change(500, 'pod', ({ pod: { metadata, status, ...pod } }) => ({
  ...pod,
  metadata: { ...metadata, resourceVersion: String(Number(metadata['resourceVersion']) + 1) },
  status: {
    ...status,
    conditions: [
      { type: 'target-health.example.com/api', status: 'False', reason: 'Deregistered' },
      { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady' },
    ],
  },
}));

/** The slices are not seen from 1 s to 3 s after the deletion. `isReady`: then another endpoint is ready. */
export const slicesUnseen =
  (isReady: boolean): Edit =>
  (all) => {
    const { at } = markedIn(all);
    const slice = changesOf(all, 'endpointslices')[0]?.object;
    const endpoints = [...((slice?.['endpoints'] ?? []) as unknown[]), ...(isReady ? [otherPod(true)] : [])];
    const gap = { kind: 'gap', stream: 'endpointslices', from: at + 1000, to: at + 3000, cause: 'expired' } as const;
    return adding(all, { at: at + 3000, ...gap }, listed(at + 3000, 'endpointslices', { ...slice, endpoints }));
  };

/** Only the first container declares a port. */
export const firstServes: Edit = each('pod', ({ spec, ...pod }) => {
  const [first, ...others] = spec['containers'] as object[];
  return { ...pod, spec: { ...spec, containers: [first, ...others.map((one) => ({ ...one, ports: [] }))] } };
});
