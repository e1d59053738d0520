/** The command `fix`: prints patches for the problems that a check finds, in the requested format. Applies nothing. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import { PodexitError } from '../../errors.ts';
import type { Cluster } from '../../kube/cluster.ts';
import type { ConnectOptions } from '../../kube/connect-options.ts';
import { asArray, asObject, asString, asText, type JsonObject } from '../../model/observe/read.ts';
import { sentenceOn } from '../../output/prose.ts';
import { forYaml, safeLines } from '../../output/safe-text.ts';
import type { Ports } from '../../run/ports.ts';
import { withCluster } from '../../run/session.ts';
import { targetText, workloadKinds, type Target, type WorkloadResource } from '../../run/choosing/target.ts';
import { deploymentOf, ownerOf } from '../../run/streams/watched.ts';
import { readReports, ownerNameOf, type ReadRecording } from '../history/reports.ts';
import { isProblem } from '../problem.ts';
import { advised } from '../check-report.ts';
import { readManifests, type ManifestInput } from '../manifest-input.ts';
import type { Manifest } from '../manifests.ts';
import { manifestOf, readNamespace, readPodToDelete, readWithKind } from '../read-cluster.ts';
import { situationIn, situationsOf, type Situation } from '../situation.ts';
import { editedValue, type Edit } from './edit.ts';
import { commentLine, editedText, jsonPatchText, kustomizeText, strategicText, yamlOf } from './edited-text.ts';
import { editsOf, type Consent, type Remedy } from '../remedies.ts';

type FixFormat = 'strategic' | 'json-patch' | 'kustomize' | 'yaml';

export interface FixOptions {
  source:
    { kind: 'files'; input: ManifestInput } | { kind: 'target'; target: Target } | { kind: 'report'; file: string };
  format: FixFormat;
  diff: boolean;
  /** What the user allows to change beside the pod template. */
  allowed: readonly Consent[];
  connection: ConnectOptions;
  verbosity: number;
  readRecording: ReadRecording;
}

interface Fixable {
  object: KubernetesObject;
  remedies: readonly Remedy[];
  edits: readonly Edit[];
  /** Problems that the edited object still has, which need a person: sentences, each with its code. */
  byHand: readonly string[];
  manifest?: Manifest;
}

/** Returns 0, also without anything to fix, or 1 if a manifest is broken. Throws PodexitError for other input. */
export async function fix(options: FixOptions, ports: Ports): Promise<number> {
  const { source } = options;
  const say = (line: string) => ports.stderr.write(`${sentenceOn(ports.stderr, safeLines(`podexit: ${line}`))}\n`);
  if (source.kind === 'report') {
    const { patches, sentences } = await reportedFixes(source.file, options);
    sentences.forEach(say);
    ports.stdout.write(patches);
    if (patches === '') ports.stderr.write(nothingToPatch);
    return 0;
  }
  const { found, broken } =
    source.kind === 'files'
      ? await fromFiles(source.input, options, ports)
      : { found: await fromCluster(source.target, options, ports), broken: [] };
  const isText = options.diff || options.format === 'yaml';
  const texts = isText ? changedTexts(found, (file, message) => broken.push({ file, line: 1, message })) : [];
  for (const { file, line, message } of broken) ports.stderr.write(safeLines(`podexit: ${file}:${line}: ${message}\n`));
  found.flatMap(linesAbout).forEach(say);
  const text = options.diff ? diffs(texts) : isText ? wholeTexts(texts) : printed(found, options.format);
  // Escapes would change a file, for example the tabs of a script in a ConfigMap.
  ports.stdout.write(source.kind === 'files' && isText && !ports.stdout.isTty ? text : forYaml(text));
  if (found.every(({ edits }) => edits.length === 0)) ports.stderr.write(nothingToPatch);
  return broken.length > 0 ? 1 : 0;
}

const nothingToPatch = 'podexit: nothing that a patch can fix\n';

const nameOf = ({ kind, metadata }: KubernetesObject): string =>
  `${(kind ?? '').toLowerCase()}/${metadata?.name ?? ''}`;

/** Of each remedy why, what it costs and what it needs; then what is left for a person. */
function linesAbout({ object, remedies, edits, byHand }: Fixable): string[] {
  const what = edits.length > 0 ? 'left by this patch, fix it by hand' : 'fix it by hand';
  return [
    ...remedies.map(({ solves, text, costs, presupposes }) => {
      const why = solves.map(({ message }) => message).join('; ');
      const terms = [costs && `Costs: ${costs}.`, presupposes && `Needs: ${presupposes}.`].filter(Boolean).join(' ');
      return `${nameOf(object)}: ${text}. Why: ${why}. ${terms}`.trimEnd();
    }),
    ...byHand.map((text) => `${what}: ${nameOf(object)}: ${text}`),
  ];
}

export function planFor(situation: Situation, { allowed }: Pick<FixOptions, 'allowed'>) {
  const applied = advised(situation).remedies.filter((one) => editsOf([one], allowed).length > 0);
  return { remedies: applied, edits: editsOf(applied, allowed) };
}

function byHandIn(situation: Situation): string[] {
  const { found, adviceOf } = advised(situation);
  return found.filter(isProblem).map((one) => `${one.message}. ${adviceOf(one) ?? ''} (${one.code})`);
}

async function fromFiles(input: ManifestInput, options: FixOptions, ports: Ports) {
  const { manifests, broken } = await readManifests(input, ports);
  const plans = new Map(
    situationsOf(manifests).map(({ manifest, situation }) => [manifest, planFor(situation, options)]),
  );
  const edited = manifests.map((manifest) => {
    const plan = plans.get(manifest) ?? { remedies: [], edits: [] };
    return { manifest, plan, after: { ...manifest, object: editedValue(manifest.object, plan.edits) } };
  });
  const left = situationsOf(edited.map(({ after }) => after));
  const found = edited.map(({ manifest, plan, after }): Fixable => ({
    object: manifest.object,
    ...plan,
    byHand: left.filter((one) => one.manifest === after).flatMap(({ situation }) => byHandIn(situation)),
    manifest,
  }));
  return { found, broken };
}

const fromCluster = (target: Target, options: FixOptions, ports: Ports): Promise<Fixable[]> =>
  withCluster(options.connection, ports, options.verbosity, async (cluster) => {
    const object = await objectWithTemplate(cluster, target);
    const neighbours = await readNamespace(cluster);
    const clean = manifestOf(object);
    const plan = planFor(situationIn(object, neighbours), options);
    return [{ object: clean, ...plan, byHand: byHandIn(situationIn(editedValue(object, plan.edits), neighbours)) }];
  });

/** The workload whose template makes the pods, if there is one: a pod's own spec cannot be patched. Throws `fix.target`. */
export async function objectWithTemplate(cluster: Cluster, target: Target): Promise<KubernetesObject> {
  if (target.kind === 'workload' && target.resource !== 'services')
    return readWithKind(cluster, target.resource, target.name);
  if (target.kind !== 'pod')
    throw new PodexitError(
      'fix.target',
      `${targetText(target)} has no pod template`,
      'Name the workload: deployment/NAME',
    );
  const pod = await readPodToDelete(cluster, target.name);
  const deployment = deploymentOf(asObject(pod));
  if (deployment !== undefined) return readWithKind(cluster, 'deployments', deployment);
  const owner = ownerOf(asObject(pod));
  const resources = Object.keys(workloadKinds) as WorkloadResource[];
  const resource = resources.find((one) => workloadKinds[one].kind === owner?.kind);
  return owner && resource ? readWithKind(cluster, resource, owner.name) : { ...pod, apiVersion: 'v1' };
}

const wholeTexts = (texts: readonly ChangedText[]): string =>
  texts.reduce((all, { after }) => {
    return all === '' ? after : `${all.replace(/\n?$/, '\n')}${after.startsWith('---') ? '' : '---\n'}${after}`;
  }, '');

function printed(found: readonly Fixable[], format: FixFormat): string {
  const print = format === 'json-patch' ? jsonPatchText : strategicText;
  const patches = found
    .filter(({ edits }) => edits.length > 0)
    .map(({ object, edits }) => {
      return { object, kind: object.kind, name: object.metadata?.name, patch: print(object, edits) };
    });
  if (format === 'kustomize') return patches.length === 0 ? '' : kustomizeText(patches);
  return patches.map(({ object, patch }) => `${headComment(object, format)}${patch}`).join('---\n');
}

/** A comment that says how to apply the patch. A pod, or the template of a Job, cannot be patched, only recreated. */
function headComment(object: KubernetesObject, format: FixFormat): string {
  const where = object.metadata?.namespace === undefined ? '' : ` -n ${object.metadata.namespace}`;
  const type = format === 'json-patch' ? ' --type=json' : '';
  return object.kind === 'Pod' || object.kind === 'Job'
    ? `# ${nameOf(object)}: the API does not let these fields of a ${object.kind} change; recreate it with them\n`
    : `# kubectl patch ${nameOf(object)}${where}${type} --patch-file FILE\n`;
}

type ChangedText = Record<'file' | 'before' | 'after', string>;

/** Each file once, with the edits of all its objects. An object of a cluster counts as a file of its own. */
function changedTexts(found: readonly Fixable[], refuse: (file: string, message: string) => void): ChangedText[] {
  const fileOf = ({ manifest, object }: Fixable): string =>
    manifest?.file ?? `${nameOf(object).replace('/', '-')}.yaml`;
  return [...new Set(found.map(fileOf))].map((file) => {
    const own = found.filter((one) => fileOf(one) === file);
    const before = own[0]?.manifest?.text ?? yamlOf(own[0]?.object);
    const after = editedText(
      before,
      own.map(({ manifest: { document, at } = { document: 0, at: [] }, edits }) => ({ document, at, edits })),
    );
    const cannot = 'left as it is, because it cannot be edited as text without changing what else it says';
    const others = 'use -o strategic, -o json-patch or -o kustomize';
    if (after === undefined) refuse(file, `${cannot} (an alias, for example); ${others}`);
    return { file, before, after: after ?? before };
  });
}

/** As `diff -u` and `git apply` read it; empty if nothing differs. */
const diffs = (texts: readonly ChangedText[]): string =>
  texts
    .map(({ file, before, after }) => structuredPatch(file, file, before, after, undefined, undefined, { context: 3 }))
    .map((patch) => (patch.hunks.length === 0 ? '' : formatPatch(patch, FILE_HEADERS_ONLY)))
    .join('');

/** What a report or a recording says, based on measurements: patches, and sentences for a person. Throws `report.unreadable`, `fix.report`. */
async function reportedFixes(file: string, { format, readRecording }: FixOptions) {
  const reports = await readReports([file], readRecording);
  const fixes = reports.flatMap((report) => asArray(report['fix']).map(asObject));
  const sentences = [...new Set(reports.flatMap(sentencesIn))];
  const refuse = (message: string, hint: string) => new PodexitError('fix.report', message, hint);
  const none = `${file} contains no fix: nothing needed fixing`;
  if (fixes.length === 0 && sentences.length === 0)
    throw refuse(none, 'Read the workload itself: kubectl podexit fix TYPE/NAME');
  const noObject = `a report does not hold the object, which -o ${format} needs`;
  if (fixes.length > 0 && (format === 'json-patch' || format === 'yaml'))
    throw refuse(noObject, 'Use -o strategic or -o kustomize, or name the workload.');
  // The pods of a rollout all propose the same fix for their workload.
  const distinct = [...new Map(fixes.map((fix) => [JSON.stringify([fix['target'], fix['patch']]), fix])).values()];
  const patches = distinct.map((fix) => {
    const { kind, name } = asObject(fix['target']);
    const comments = [fix['reason'], fix['command']].map((text) => `${commentLine(asText(text))}\n`).join('');
    return { kind: asString(kind), name: asString(name), patch: forYaml(`${comments}\n${yamlOf(fix['patch'])}`) };
  });
  const isComponent = format === 'kustomize' && patches.length > 0;
  return { patches: isComponent ? kustomizeText(patches) : patches.map(({ patch }) => patch).join('---\n'), sentences };
}

/** The advice of a report, also what its patch contains. */
function sentencesIn(report: JsonObject): string[] {
  const workload = ownerNameOf(asObject(report['pod'])).replace(/^[^/]+/, (kind) => kind.toLowerCase());
  const findings = asArray(asObject(report['verdict'])['findings']).map(asObject);
  const advised = findings.filter(({ severity, advice }) => severity !== 'info' && asText(advice) !== '');
  return [...new Map(advised.map((finding) => [finding['advice'], finding])).values()].map(
    ({ code, message, advice }) => `${workload}: ${asText(message)}. ${asText(advice)} (${asText(code)})`,
  );
}
