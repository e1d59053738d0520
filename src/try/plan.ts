/** Reads what is to be tried: the workload, what changes in it, and what speaks against copies of it. Creates nothing. */
import { readFile } from 'node:fs/promises';
import type { KubernetesObject } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { differing, editedValue } from '../advice/fix/edit.ts';
import { objectWithTemplate, planFor } from '../advice/fix/fix.ts';
import { readManifests, type ManifestInput } from '../advice/manifest-input.ts';
import { neighboursIn, type Neighbours } from '../advice/neighbours.ts';
import { listAll, readNamespace } from '../advice/read-cluster.ts';
import { othersServe } from '../advice/roles.ts';
import { hasPods, situationOf } from '../advice/situation.ts';
import { jsonPatch, strategicMerge } from '../demo/verbs/merge.ts';
import { PodexitError } from '../errors.ts';
import type { Cluster } from '../kube/cluster.ts';
import { asArray, asObject, asString, isObject, type JsonObject } from '../model/observe/read.ts';
import type { Target } from '../run/choosing/target.ts';
import type { Ports } from '../run/ports.ts';
import { few } from '../verdict/words.ts';
import { copyLabels, copyNames, leftOutOf, targetPortOf, type CopyName, type CopyOptions } from './copies.ts';
import { podSpecIn, quotaRefusals, refusalsOf, selectorRefusals, touchesOf } from './refusals.ts';

/** What changes: a patch in a file or as text, other images, or (neither) what `fix` proposes. */
export interface Proposal {
  readonly patch?: string;
  /** `IMAGE`, or `CONTAINER=IMAGE` if it has several. */
  readonly image?: string;
}

interface PlanOptions {
  readonly target?: Target;
  readonly manifests?: ManifestInput;
  readonly proposal: Proposal;
  readonly id: string;
}

export interface Plan {
  /** `deployment/checkout` */
  readonly subject: string;
  readonly workloads: Readonly<Record<CopyName, KubernetesObject>>;
  /** What differs between them, in words. */
  readonly change: string;
  /** How to get the patch, after `apply it`. */
  readonly how: string;
  readonly options: CopyOptions;
  /** Each completes "the copies …". */
  readonly touches: readonly string[];
  /** Fields of the original that the copies lack. */
  readonly leftOut: readonly string[];
}

/** Throws `try.refused`, `try.nothing`, `try.patch`, and what reading throws. */
export async function planOf(cluster: Cluster, options: PlanOptions, ports: Ports): Promise<Plan> {
  const around = await readNamespace(cluster);
  const { workload, neighbours } = await readSubject(cluster, around, options, ports);
  const subject = `${(workload.kind ?? '').toLowerCase()}/${workload.metadata?.name ?? ''}`;
  const situation = situationOf(workload, neighbours);
  const refuse = (reasons: readonly string[]): void => {
    if (reasons.length > 0) throw refused(subject, `a copy of it ${reasons.join('; it ')}`);
  };
  refuse(refusalsOf(workload, situation));
  const { patched, change } = await proposed(workload, neighbours, options.proposal);
  const after = situationOf(patched, neighbours);
  refuse(refusalsOf(patched, after));
  const targetPort = targetPortOf(situation);
  if (targetPort === undefined)
    throw refused(subject, 'neither a Service nor a containerPort says where it answers, so no request can be counted');
  const replicas = othersServe(situation).answer === 'no' ? 1 : 2;
  const quotas = await listAll(cluster, '/api/v1', 'resourcequotas');
  const workloads = { today: workload, patched };
  const podSpecs = copyNames.flatMap((name) => Array<JsonObject>(replicas).fill(podSpecIn(workloads[name])));
  refuse([
    ...copyNames.flatMap((name) => selectorRefusals(around, copyLabels(options.id, name))).slice(0, 1),
    // While a pod terminates, its replacement exists too.
    ...(Array.isArray(quotas) ? quotaRefusals(quotas, [...podSpecs, podSpecIn(patched)]) : []),
  ]);
  return {
    subject,
    workloads,
    change,
    how: isFix(options.proposal) ? `: kubectl podexit fix ${subject} -n ${cluster.namespace}` : '',
    options: { id: options.id, namespace: cluster.namespace, replicas, targetPort },
    touches: touchesOf(patched, after),
    leftOut: leftOutOf(podSpecIn(workload)),
  };
}

const refused = (subject: string, because: string): PodexitError =>
  new PodexitError('try.refused', `${subject} cannot be tried: ${because}`, 'Nothing was created.');

/** The workload and, for a manifest, the Services and budgets of its files. */
async function readSubject(cluster: Cluster, around: Neighbours, options: PlanOptions, ports: Ports) {
  const { target, manifests: input } = options;
  if (!input && target) return { workload: await objectWithTemplate(cluster, target), neighbours: around };
  if (!input) throw new PodexitError('try.target', 'nothing to try was named', 'Name it: deployment/NAME or -f FILE');
  const { manifests, broken } = await readManifests(input, ports);
  const [first] = broken;
  if (first) throw new PodexitError('try.manifest', `${first.file}:${first.line}: ${first.message}`, 'Mend the file.');
  const name = target?.kind === 'workload' || target?.kind === 'pod' ? target.name : undefined;
  const objects = manifests.map(({ object }) => object);
  const found = objects.filter((one) => hasPods(one) && (name === undefined || one.metadata?.name === name));
  const [workload] = found;
  if (!workload || found.length > 1)
    throw new PodexitError(
      'try.manifest',
      found.length === 0
        ? `these files hold no ${name === undefined ? 'workload' : `workload "${name}"`}`
        : `these files hold several workloads: ${found.map(({ metadata }) => metadata?.name ?? '').join(', ')}`,
      'Name one: kubectl podexit try deployment/NAME -f FILE',
    );
  const { namespace } = workload.metadata ?? {};
  if (namespace !== undefined && namespace !== cluster.namespace)
    throw new PodexitError(
      'try.manifest',
      `the manifest is for namespace "${namespace}", and the copies would be made in "${cluster.namespace}"`,
      `Add -n ${namespace}`,
    );
  const own = neighboursIn(objects);
  // A Service that is not in the files may be in the cluster.
  const services = own.services.length > 0 ? own.services : around.services;
  const claims = [...own.claims, ...around.claims.filter(({ name }) => own.claims.every((one) => one.name !== name))];
  return { workload, neighbours: { ...own, services, claims } };
}

async function proposed(
  workload: KubernetesObject,
  neighbours: Neighbours,
  proposal: Proposal,
): Promise<{ patched: KubernetesObject; change: string }> {
  const { patch, image } = proposal;
  if (isFix(proposal)) return fixOf(workload, neighbours);
  const merged = patch === undefined ? workload : withPatch(workload, await readPatch(patch));
  const patched = image === undefined ? merged : withImage(merged, image);
  if (JSON.stringify(podSpecIn(patched)) === JSON.stringify(podSpecIn(workload)))
    throw new PodexitError(
      'try.nothing',
      'the patch changes nothing in the pods, so both copies would be the same',
      'A patch is for the workload: {"spec":{"template":{"spec":{…}}}}. Replicas and strategy cannot be tried.',
    );
  return { patched, change: few(changedFields(podSpecIn(workload), podSpecIn(patched)), 8).join(', ') };
}

/** The paths that differ, with numbers and images as they become: other values may be secrets. */
function changedFields(before: unknown, after: unknown, path = ''): string[] {
  const fields = fieldsOf(after);
  if (fields) {
    const old = fieldsOf(before) ?? {};
    return differing(old, fields).flatMap((name) => changedFields(old[name], fields[name], `${path}.${name}`));
  }
  const isShown = typeof after === 'number' || path.endsWith('.image');
  const values = isShown ? ` ${[before ?? 'none', after].join(' → ')}` : after === undefined ? ' removed' : '';
  return [path.slice(1) + values];
}

/** The fields of a map, or the items of a list by their names; undefined for what is neither. */
function fieldsOf(value: unknown): JsonObject | undefined {
  if (isObject(value)) return value;
  const items = asArray(value).map((item) => [asString(asObject(item)['name']), item] as const);
  const isNamed = items.length > 0 && items.every(([name]) => name !== undefined);
  return isNamed ? (Object.fromEntries(items) as JsonObject) : undefined;
}

const isFix = ({ patch, image }: Proposal): boolean => patch === undefined && image === undefined;

function fixOf(workload: KubernetesObject, neighbours: Neighbours): { patched: KubernetesObject; change: string } {
  const { remedies, edits } = planFor(situationOf(workload, neighbours), { allowed: [] });
  if (edits.length > 0)
    return { patched: editedValue(workload, edits), change: remedies.map(({ text }) => text).join('; ') };
  throw new PodexitError(
    'try.nothing',
    'fix proposes no patch for it, so there is nothing to try',
    'Name what to try: --patch FILE or --image IMAGE. What a person can do: kubectl podexit check',
  );
}

/** A patch as kubectl's --patch takes it, or the name of a file with one. */
async function readPatch(patch: string): Promise<unknown> {
  const unusable = (why: string): PodexitError =>
    new PodexitError('try.patch', `--patch ${why}`, 'Write one with: kubectl podexit fix deployment/NAME > patch.yaml');
  try {
    const text = /^\s*[{[]/.test(patch) ? patch : await readFile(patch, 'utf8');
    const value: unknown = parse(text, { version: '1.1', maxAliasCount: 100 });
    if (isObject(value) || Array.isArray(value)) return value;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw unusable(code === 'ENOENT' ? `: ${patch} does not exist` : `cannot be read: ${message.split('\n')[0]}`);
  }
  throw unusable('is neither a map nor a list of operations');
}

/** A list is a JSON patch (RFC 6902), a map a strategic merge patch, as in `kubectl patch`. */
function withPatch(workload: KubernetesObject, patch: unknown): KubernetesObject {
  const { kind, metadata } = asObject(patch);
  const [name, own] = [asString(asObject(metadata)['name']), workload.metadata?.name];
  if ((kind !== undefined && kind !== workload.kind) || (name !== undefined && name !== own))
    throw new PodexitError(
      'try.patch',
      `the patch is for ${asString(kind)?.toLowerCase() ?? workload.kind}/${name ?? own}, and not for ${workload.kind?.toLowerCase()}/${own}`,
      'Name the patch of this workload.',
    );
  try {
    return (Array.isArray(patch) ? jsonPatch(workload, patch) : strategicMerge(workload, patch)) as KubernetesObject;
  } catch (error) {
    throw new PodexitError('try.patch', `the patch cannot be applied: ${(error as Error).message}`, 'Mend the patch.');
  }
}

function withImage(workload: KubernetesObject, text: string): KubernetesObject {
  const [, named, image = ''] = /^(?:([a-z0-9-]+)=)?(.+)$/.exec(text) ?? [];
  const names = asArray(podSpecIn(workload)['containers']).map((one) => asString(asObject(one)['name']) ?? '');
  const name = named ?? (names.length === 1 ? names[0] : undefined);
  if (name === undefined || !names.includes(name))
    throw new PodexitError(
      'try.image',
      name === undefined ? 'it has several containers' : `it has no container "${name}"`,
      `Write --image CONTAINER=IMAGE; its containers: ${names.join(', ')}`,
    );
  return withPatch(workload, { spec: { template: { spec: { containers: [{ name, image }] } } } });
}
