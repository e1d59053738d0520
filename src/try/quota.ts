/** Whether the copies fit into the quotas of the namespace (core/v1 ResourceQuota). Pure. */
import { asArray, asObject, asString, asNumber, isPresent, type JsonObject } from '../model/observe/read.ts';

/** What is created, beside the pods, by the names that quotas have for it. */
const createdObjects: Readonly<Record<string, number>> = {
  'count/deployments.apps': 2,
  'count/replicasets.apps': 2,
  services: 2,
  'count/services': 2,
  configmaps: 1,
  'count/configmaps': 1,
};

/**
 * Reasons, each completes "a copy of it …". `podSpecs`: one for each pod that runs at the same time. A quota with scopes
 * may not count these pods; the API server decides.
 */
export function quotaRefusals(quotas: readonly unknown[], podSpecs: readonly JsonObject[]): string[] {
  return quotas.map(asObject).flatMap(({ metadata, spec, status }) => {
    const { scopes, scopeSelector, hard: wanted } = asObject(spec);
    if (asArray(scopes).length > 0 || isPresent(scopeSelector)) return [];
    const { hard = wanted, used } = asObject(status);
    return Object.entries(asObject(hard)).flatMap(([resource, limit]) => {
      const needed = neededOf(resource, podSpecs);
      const [most, taken] = [quantityOf(limit), quantityOf(asObject(used)[resource]) ?? 0];
      if (needed === 0 || most === undefined || taken + needed <= most) return [];
      const name = asString(asObject(metadata)['name']) ?? '';
      return [`would not fit into ResourceQuota ${name}: ${resource} ${most - taken} free, ${needed} needed`];
    });
  });
}

function neededOf(resource: string, podSpecs: readonly JsonObject[]): number {
  if (resource === 'pods' || resource === 'count/pods') return podSpecs.length;
  if (Object.hasOwn(createdObjects, resource)) return createdObjects[resource] ?? 0;
  const [, list = 'requests', name] = /^(?:(requests|limits)\.)?(cpu|memory|ephemeral-storage)$/.exec(resource) ?? [];
  return name === undefined ? 0 : podSpecs.reduce((sum, podSpec) => sum + askedBy(podSpec, list, name), 0);
}

/** Containers and sidecars run together, init containers before them; a request is by default the limit. */
function askedBy(podSpec: JsonObject, list: string, name: string): number {
  const amounts = (field: string, isWanted: (container: JsonObject) => boolean): number[] =>
    asArray(podSpec[field])
      .map(asObject)
      .filter(isWanted)
      .map(({ resources }) => {
        const { requests, limits } = asObject(resources);
        const own = list === 'limits' ? undefined : asObject(requests)[name];
        return quantityOf(own ?? asObject(limits)[name]) ?? 0;
      });
  const isSidecar = ({ restartPolicy }: JsonObject): boolean => restartPolicy === 'Always';
  const together = [...amounts('containers', () => true), ...amounts('initContainers', isSidecar)];
  return Math.max(
    together.reduce((sum, one) => sum + one, 0),
    ...amounts('initContainers', (one) => !isSidecar(one)),
  );
}

const decimals: Readonly<Record<string, number>> = { n: -3, u: -2, m: -1, '': 0, k: 1, M: 2, G: 3, T: 4, P: 5, E: 6 };

/** A quantity as Kubernetes writes it: `250m`, `1.5Gi`, `2e3` (apimachinery pkg/api/resource). */
function quantityOf(raw: unknown): number | undefined {
  const text = asString(raw) ?? asNumber(raw)?.toString() ?? '';
  const [, digits, suffix = ''] =
    /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([numkMGTPE]|[KMGTPE]i)?$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const power = decimals[suffix.replace('K', 'k').replace('i', '')] ?? 0;
  return Number(digits) * (suffix.endsWith('i') ? 1024 : 1000) ** power;
}
