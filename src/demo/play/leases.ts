import type { Playback } from '../cluster.ts';
import { recordsAt, type KubeObject } from '../data/kube-object.ts';
import { formatStamp, fromMs } from '../clock.ts';
import type { PreparedScenario } from './prepare.ts';

/** How often a kubelet renews its Lease. */
const leaseRenewalMs = 10_000;

/** Renews a Lease for every node while the recording shows its kubelet alive, until the cluster stops. */
export function renewLeases(cluster: Playback): void {
  const { clock, player, scenario } = cluster;
  const nodes = [...cluster.log.current.values()].filter(({ resource }) => resource === 'nodes');
  const silence = silenceOf(scenario);

  function isSilent(): boolean {
    const { begunAt } = player.moments;
    if (silence === undefined || begunAt === undefined) return false;
    const recorded = clock.now() - begunAt + scenario.trigger.at;
    return recorded >= silence.from && recorded < silence.to;
  }

  function renew(): void {
    for (const { object } of isSilent() ? [] : nodes)
      cluster.write({ type: 'MODIFIED', resource: 'leases', object: leaseOf(object, clock.now()) });
    void cluster.sleep(leaseRenewalMs).then(renew);
  }

  if (nodes.length > 0) renew();
}

/** If the controller declared the node Unknown: from just before the deletion until the node reports again. */
function silenceOf({ steps, trigger }: PreparedScenario): { from: number; to: number } | undefined {
  const reports = steps.filter((step) => step.kind === 'change').filter(({ resource }) => resource === 'nodes');
  const lost = reports.findIndex(({ object }) => readyStatus(object) === 'Unknown');
  const back = reports.find(({ object }, index) => lost >= 0 && index > lost && readyStatus(object) !== 'Unknown');
  return lost < 0 ? undefined : { from: trigger.at - 1_000, to: back?.at ?? Infinity };
}

const readyStatus = (node: KubeObject): unknown =>
  recordsAt(node, 'status.conditions').find(({ type }) => type === 'Ready')?.status;

function leaseOf({ metadata }: KubeObject, now: number): KubeObject {
  const { name, uid, creationTimestamp } = metadata;
  return {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: {
      name,
      namespace: 'kube-node-lease',
      uid: `${uid?.slice(0, 24) ?? '00000000-0000-4000-8000-'}1ea5e0000000`,
      creationTimestamp,
      managedFields: [{ manager: 'kubelet', operation: 'Update', time: formatStamp(fromMs(now), 0) }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: formatStamp(fromMs(now), 6) },
  };
}
