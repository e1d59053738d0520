/** The command `fix`: prints what would mend the problems that a check finds, in the form that is asked for. Applies nothing. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { readFile } from 'node:fs/promises';
import { PodexitError } from '../../errors.ts';
import type { Cluster } from '../../kube/cluster.ts';
import type { ConnectOptions } from '../../kube/connect-options.ts';
import { forYaml, safeLines } from '../../render/safe-text.ts';
import { deploymentOf } from '../../run/candidates.ts';
import { connectCluster } from '../../run/connected.ts';
import type { Ports } from '../../run/ports.ts';
import { targetText, workloadKinds } from '../../run/target.ts';
import type { Target, WorkloadResource } from '../../run/target.ts';
import { asRaw, ownerOf } from '../../run/watched.ts';
import { isProblem } from '../finding.ts';
import { judge } from '../judge.ts';
import { readManifests } from '../manifest/read-files.ts';
import type { Manifest } from '../manifest/parse.ts';
import { specsOf } from '../manifest/specs.ts';
import { readNamespace, readPod, readWorkload } from '../read-cluster.ts';
import { specOfWorkload } from '../read-workload.ts';
import type { ShutdownSpec } from '../shutdown-spec.ts';
import { changedYaml, manifestOf, yamlOf } from './changed-yaml.ts';
import type { Proposal } from './edits.ts';
import { proposalFor } from './edits.ts';
import { applyEdits } from './patches.ts';
import { jsonPatchText, kustomizeText, strategicText } from './print-patch.ts';
import { reportedFixes } from './reported.ts';
import { unifiedDiff } from './unified-diff.ts';

export type FixFormat = 'strategic' | 'json-patch' | 'kustomize' | 'yaml';

export interface FixOptions {
  source:
    { kind: 'files'; names: readonly string[] } | { kind: 'target'; target: Target } | { kind: 'report'; file: string };
  format: FixFormat;
  diff: boolean;
  connection: ConnectOptions;
  verbosity: number;
}

/** One object with what is proposed for it. */
interface Fixable {
  object: KubernetesObject;
  proposal: Proposal;
  manifest?: Manifest;
}

/** 0, whether or not there is something to mend. Throws PodexitError for input that cannot be read. */
export async function fix(options: FixOptions, ports: Ports): Promise<number> {
  const { source } = options;
  if (source.kind === 'report') {
    ports.stdout.write(await reportedFixes(source.file, options.format));
    return 0;
  }
  const { found, broken } =
    source.kind === 'files'
      ? await fromFiles(source.names)
      : { found: await fromCluster(source.target, options, ports), broken: [] };
  for (const { file, line, message } of broken) ports.stderr.write(safeLines(`podexit: ${file}:${line}: ${message}\n`));
  for (const { object, proposal } of found)
    for (const { code, message, advice } of proposal.byHand)
      ports.stderr.write(safeLines(`podexit: by hand: ${nameOf(object)}: ${message}. ${advice ?? ''} (${code})\n`));
  const text = options.diff ? await diffs(found) : await printed(found, options.format);
  ports.stdout.write(forYaml(text));
  if (text === '') ports.stderr.write('podexit: nothing that a patch could mend\n');
  return broken.length > 0 ? 1 : 0;
}

const nameOf = ({ kind, metadata }: KubernetesObject): string =>
  `${(kind ?? '').toLowerCase()}/${metadata?.name ?? ''}`;

const fixable = (object: KubernetesObject, spec: ShutdownSpec): Proposal =>
  proposalFor(object, spec, judge(spec).findings.filter(isProblem));

async function fromFiles(names: readonly string[]) {
  const { manifests, broken } = await readManifests(names);
  const found = specsOf(manifests).map(({ manifest, spec }): Fixable => ({
    object: manifest.object,
    proposal: fixable(manifest.object, spec),
    manifest,
  }));
  return { found, broken };
}

async function fromCluster(target: Target, { connection, verbosity }: FixOptions, ports: Ports): Promise<Fixable[]> {
  const cluster = await connectCluster(connection, ports, verbosity);
  try {
    const object = await objectOf(cluster, target);
    const { services, budgets } = await readNamespace(cluster);
    const neighbours = { services, budgets, autoscaled: new Set<string>() };
    const clean = manifestOf(object);
    return [{ object: clean, proposal: fixable(clean, specOfWorkload(object, { neighbours })) }];
  } finally {
    cluster.close();
  }
}

/** The object whose template makes the pods: a pod's spec cannot be patched. */
async function objectOf(cluster: Cluster, target: Target): Promise<KubernetesObject> {
  if (target.kind === 'workload' && target.resource !== 'services')
    return typed(await readWorkload(cluster, target.resource, target.name));
  if (target.kind !== 'pod')
    throw new PodexitError(
      'fix.target',
      `${targetText(target)} has no template to mend`,
      'Name the workload: kubectl podexit fix deployment/NAME',
    );
  const pod = await readPod(cluster, target.name);
  const deployment = deploymentOf(asRaw(pod));
  if (deployment !== undefined) return typed(await readWorkload(cluster, 'deployments', deployment));
  const owner = ownerOf(asRaw(pod));
  const resources = Object.keys(workloadKinds) as WorkloadResource[];
  const resource = resources.find((one) => workloadKinds[one].kind === owner?.kind);
  if (owner && resource) return typed(await readWorkload(cluster, resource, owner.name));
  return { ...pod, apiVersion: 'v1' };
}

/** An answer to a GET may leave out what its path says. */
const typed = (object: KubernetesObject): KubernetesObject => ({
  ...object,
  apiVersion:
    object.apiVersion ?? Object.values(workloadKinds).find(({ kind }) => kind === object.kind)?.group ?? 'apps/v1',
});

async function printed(found: readonly Fixable[], format: FixFormat): Promise<string> {
  if (format === 'yaml') return (await changedTexts(found)).map(({ after }) => after).join('');
  const changed = found.filter(({ proposal }) => proposal.edits.length > 0);
  const pairs = changed.map((one) => ({ ...one, after: applyEdits(one.object, one.proposal.edits) }));
  if (format === 'kustomize')
    return pairs.length === 0
      ? ''
      : kustomizeText(
          pairs.map(({ object, after, proposal }) => ({
            object,
            strategic: strategicText(object, after, proposal.edits),
          })),
        );
  const print = format === 'json-patch' ? jsonPatchText : strategicText;
  return pairs
    .map(({ object, after, proposal }) => `${head(object, format)}${print(object, after, proposal.edits)}`)
    .join('---\n');
}

/** How to apply it, as a comment. A pod's fields cannot be changed, only another pod made. */
function head(object: KubernetesObject, format: FixFormat): string {
  const namespace = object.metadata?.namespace;
  const where = namespace === undefined ? '' : ` -n ${namespace}`;
  const type = format === 'json-patch' ? ' --type=json' : '';
  return object.kind === 'Pod'
    ? `# ${nameOf(object)}: the API does not let these fields of a pod change; recreate it with them\n`
    : `# kubectl patch ${nameOf(object)}${where}${type} --patch-file FILE\n`;
}

/** Each file once, with the edits of all its objects; an object of the cluster as its own file. */
async function changedTexts(found: readonly Fixable[]): Promise<{ file: string; before: string; after: string }[]> {
  const files = [...new Set(found.flatMap(({ manifest }) => manifest?.file ?? []))];
  const ofFiles = files.map(async (file) => {
    const own = found.filter(({ manifest }) => manifest?.file === file);
    const before =
      file === '<stdin>' ? own.map(({ object }) => yamlOf(object)).join('---\n') : await readFile(file, 'utf8');
    const changes = own.map(({ manifest, proposal }, index) => ({
      document: file === '<stdin>' ? index : (manifest?.document ?? 0),
      at: file === '<stdin>' ? [] : (manifest?.at ?? []),
      edits: proposal.edits,
    }));
    return { file, before, after: changedYaml(before, changes) };
  });
  const live = found
    .filter(({ manifest }) => !manifest)
    .map(({ object, proposal }) => {
      const before = yamlOf(object);
      const after = changedYaml(before, [{ document: 0, at: [], edits: proposal.edits }]);
      return { file: `${nameOf(object).replace('/', '-')}.yaml`, before, after };
    });
  return [...(await Promise.all(ofFiles)), ...live];
}

const diffs = async (found: readonly Fixable[]): Promise<string> =>
  (await changedTexts(found)).map(({ file, before, after }) => unifiedDiff(before, after, file)).join('');
