/** The objects of a stream of manifests → the ShutdownSpec of each workload, with the Services and budgets beside it. */
import { asObject } from '../../model/observe/read.ts';
import { hasPods, specOfWorkload } from '../read-workload.ts';
import type { Neighbours } from '../read-workload.ts';
import type { ShutdownSpec } from '../shutdown-spec.ts';
import type { Manifest } from './parse.ts';

export interface ManifestSpec {
  manifest: Manifest;
  spec: ShutdownSpec;
}

export function specsOf(manifests: readonly Manifest[], graceSeconds?: number): ManifestSpec[] {
  const neighbours = neighboursOf(manifests);
  return manifests
    .filter(({ object }) => hasPods(object))
    .map((manifest) => {
      const { object, file, line } = manifest;
      return {
        manifest,
        spec: specOfWorkload(object, { neighbours, file, line, graceSeconds, mayHaveOtherServices: true }),
      };
    });
}

function neighboursOf(manifests: readonly Manifest[]): Neighbours {
  const ofKind = (kind: string) => manifests.map(({ object }) => object).filter((one) => one.kind === kind);
  return {
    services: ofKind('Service'),
    budgets: ofKind('PodDisruptionBudget'),
    autoscaled: new Set(
      [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')].map((one) => {
        const { kind = 'Deployment', name } = asObject(asObject(asObject(one)['spec'])['scaleTargetRef']);
        return `${String(kind)}/${String(name)}`;
      }),
    ),
  };
}
