/**
 * `npm run advice:corpus -- DIR`: what `fix` would change in a folder of manifests of any origin, as counts; `-v` lists each
 * harm. The manifests of a folder are read together, as `fix -f FOLDER` does. The harm columns look at the manifests before
 * and after, and at nothing that the advice decided.
 */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { diffLines } from 'diff';
import { problemsOf } from '../src/advice/check-report.ts';
import { editedValue, type Edit } from '../src/advice/fix/edit.ts';
import { editedText } from '../src/advice/fix/edited-text.ts';
import type { Path } from '../src/advice/container-spec.ts';
import { readManifests } from '../src/advice/manifest-input.ts';
import { parseManifests, type Manifest } from '../src/advice/manifests.ts';
import { isProblem, type Problem } from '../src/advice/problem.ts';
import { adviceFor, editsOf, remediesFor } from '../src/advice/remedies.ts';
import { situationsOf } from '../src/advice/situation.ts';
import { asArray, asNumber, asObject, asText, type JsonObject } from '../src/model/observe/read.ts';

interface Fixed {
  manifest: Manifest;
  edits: readonly Edit[];
  before: JsonObject;
  after: JsonObject;
  problems: readonly Problem[];
  left: readonly Problem[];
}

const counts = new Map<string, number>();
const harms: string[] = [];
const count = (what: string, by = 1): void => void counts.set(what, (counts.get(what) ?? 0) + by);

const [root = '', ...flags] = process.argv.slice(2);

function harm(what: string, { file, object }: { file: string; object?: Manifest['object'] }, detail = ''): void {
  count(`HARM ${what}`);
  const name = object ? ` ${object.kind ?? ''}/${asText(object.metadata?.name)}` : '';
  harms.push(`${what}: ${relative(root, file)}${name} ${detail}`);
}

async function judgeFolder(folder: string): Promise<void> {
  const { manifests, broken } = await readManifests({ names: [folder] }, { env: process.env });
  count('files', new Set(manifests.map(({ file }) => file)).size);
  count('inputs that cannot be read', broken.length);
  const situations = situationsOf(manifests);
  count('workloads', situations.length);
  const plans = situations.map(({ manifest, situation }) => {
    const found = problemsOf(situation);
    const remedies = remediesFor(situation, found);
    // What helps only later is no number of today's patch.
    const now = remedies.filter(({ after }) => !after);
    const problems = found.map((problem) => ({ ...problem, advice: adviceFor(problem, now) }));
    return { manifest, problems, edits: editsOf(remedies) };
  });
  const problems = new Map(plans.map((plan) => [plan.manifest, plan.problems]));
  const edits = new Map(plans.map((plan) => [plan.manifest, plan.edits]));
  const edited = manifests.map((manifest) => {
    return { manifest, after: { ...manifest, object: editedValue(manifest.object, edits.get(manifest) ?? []) } };
  });
  const left = new Map(
    situationsOf(edited.map(({ after }) => after)).map(({ manifest, situation }) => [manifest, problemsOf(situation)]),
  );
  const objects = manifests.map(({ object }) => asObject(object));
  for (const { manifest, after } of edited) {
    const own = edits.get(manifest);
    if (!own) continue;
    judgeObject(
      {
        manifest,
        edits: own,
        before: asObject(manifest.object),
        after: asObject(after.object),
        problems: (problems.get(manifest) ?? []).filter(isProblem),
        left: (left.get(after) ?? []).filter(isProblem),
      },
      objects,
    );
  }
  for (const file of new Set(manifests.map((one) => one.file)))
    judgeText(
      manifests.filter((one) => one.file === file),
      edits,
    );
}

function judgeObject(fixed: Fixed, objects: readonly JsonObject[]): void {
  const { manifest, edits, before, after, problems, left } = fixed;
  for (const { code } of problems) count(`finding ${code}`);
  if (edits.length > 0) count('workloads with a patch');
  const hooked = containersIn(after).filter(({ name, preStop }) => {
    const old = containersIn(before).find((one) => one.name === name);
    return preStop !== undefined && !isDeepStrictEqual(old?.preStop, preStop);
  });
  count('hooks proposed', hooked.length);
  if (hooked.length > 0 && !canOthersServe(after, objects)) harm('hook where nobody else can serve', manifest);
  const bare = containersIn(after).filter(
    ({ isInit, preStop, ports }) => !isInit && preStop === undefined && ports > 0,
  );
  if (hooked.length > 0 && bare.length > 0)
    harm('hook on one of several serving companions', manifest, `not on ${bare.map(({ name }) => name).join(', ')}`);
  for (const field of ['replicas', 'strategy', 'updateStrategy'])
    if (!isDeepStrictEqual(specIn(before)[field], specIn(after)[field]))
      harm('replicas or strategy touched without consent', manifest, field);
  const paths = edits.map(({ path }) => JSON.stringify(path));
  if (new Set(paths).size < paths.length) harm('field with two numbers', manifest);
  const grace = asNumber(podIn(after)['terminationGracePeriodSeconds']);
  const told = problems.flatMap(({ advice = '' }) =>
    [...advice.matchAll(/(?:terminationGracePeriodSeconds|grace period)[^.;,`\d]{0,20}?(\d+)/g)].map(([, seconds]) =>
      Number(seconds),
    ),
  );
  // A finding may also name today's number.
  const today = asNumber(podIn(before)['terminationGracePeriodSeconds']) ?? 30;
  if (grace !== undefined && told.some((seconds) => seconds !== grace && seconds !== today))
    harm('field with two numbers', manifest, `grace ${grace}, told ${told.join(', ')}`);
  const key = ({ code, container = '' }: Problem): string => `${code} ${container}`;
  const had = new Set(problems.map(key));
  for (const one of left.filter((problem) => !had.has(key(problem))))
    harm('check finds more after fix', manifest, key(one));
  const isEdited = (problem: Problem): boolean =>
    edits.some(({ path }) => path.length > 0 && isDeepStrictEqual(path, problem.path));
  for (const one of left.filter(isEdited)) harm('check after fix not quiet on what was fixed', manifest, key(one));
}

const specIn = (object: JsonObject): JsonObject => asObject(object['spec']);
const jobIn = (object: JsonObject): JsonObject =>
  asObject(asObject(specIn(object)['jobTemplate'])['spec'] ?? specIn(object));
const podIn = (object: JsonObject): JsonObject =>
  object['kind'] === 'Pod' ? specIn(object) : asObject(asObject(jobIn(object)['template'])['spec']);

const containersIn = (object: JsonObject) =>
  (['containers', 'initContainers'] as const).flatMap((list) =>
    asArray(podIn(object)[list])
      .map(asObject)
      .map((one) => ({
        name: asText(one['name']),
        isInit: list === 'initContainers',
        preStop: asObject(one['lifecycle'])['preStop'],
        // Nobody loses a request to a port that only a monitor reads.
        ports: asArray(one['ports']).filter((port) => !/metrics|health/.test(asText(asObject(port)['name']))).length,
        hostPorts: asArray(one['ports'])
          .map(asObject)
          .some(({ hostPort }) => hostPort !== undefined),
      })),
  );

/** Another replica, or a surge that makes one before the old pod stops. */
function canOthersServe(object: JsonObject, objects: readonly JsonObject[]): boolean {
  const [spec, pod] = [specIn(object), podIn(object)];
  const name = asText(asObject(object['metadata'])['name']);
  const minimum = objects
    .filter((one) => ['HorizontalPodAutoscaler', 'ScaledObject'].includes(asText(one['kind'])))
    .filter((one) => asObject(specIn(one)['scaleTargetRef'])['name'] === name)
    .map((one) => asNumber(specIn(one)['minReplicas']) ?? asNumber(specIn(one)['minReplicaCount']) ?? 1);
  const replicas = minimum.length > 0 ? Math.min(...minimum) : (asNumber(spec['replicas']) ?? 1);
  const { type, rollingUpdate } = asObject(spec['strategy']);
  const { maxSurge = '25%' } = asObject(rollingUpdate);
  const isOnNode = pod['hostNetwork'] === true || containersIn(object).some(({ hostPorts }) => hostPorts);
  // Pods of several nodes can mount these at once.
  const shared = objects
    .filter(({ kind, ...one }) => kind === 'PersistentVolumeClaim' && /Many/.test(String(specIn(one)['accessModes'])))
    .map(({ metadata }) => asObject(metadata)['name']);
  const hasVolume = asArray(pod['volumes'])
    .map((one) => asObject(one)['persistentVolumeClaim'])
    .some((claim) => claim !== undefined && !shared.includes(asObject(claim)['claimName']));
  const surges = type !== 'Recreate' && !isOnNode && !hasVolume && maxSurge !== 0 && maxSurge !== '0%';
  if (object['kind'] === 'DaemonSet') return true;
  if (object['kind'] === 'Deployment') return type === 'Recreate' ? false : replicas > 1 || surges;
  return replicas > 1 && ['StatefulSet', 'ReplicaSet', 'ReplicationController'].includes(asText(object['kind']));
}

/** Lines that go must say what an edit is about (or that there is nothing yet), or be somewhere else; comments stay. */
function judgeText(manifests: readonly Manifest[], edits: ReadonlyMap<Manifest, readonly Edit[]>): void {
  const [first] = manifests;
  const own = manifests.flatMap((manifest) => edits.get(manifest) ?? []);
  if (!first || own.length === 0) return;
  count('files that change');
  const changes = manifests.map((one) => ({ document: one.document, at: one.at, edits: edits.get(one) ?? [] }));
  const after = editedText(first.text, changes);
  if (after === undefined) return count('files that cannot be edited as text');
  const wanted = manifests.map((one) => editedValue(one.object, edits.get(one) ?? []));
  const read = parseManifests(after, first.file).manifests.map(({ object }) => object);
  if (!isDeepStrictEqual(read, wanted)) harm('file whose text says something else', first);
  const keys = new Set(
    manifests.flatMap((one) =>
      (edits.get(one) ?? []).flatMap(({ path }) => {
        const at = (steps: Path) =>
          steps.reduce<unknown>((value, step) => (value as JsonObject | undefined)?.[step], one.object);
        const empty = path.filter((_, index) => at(path.slice(0, index + 1)) === null);
        return [...empty.map(String), ...keysIn(at(path), asText(path.at(-1)))];
      }),
    ),
  );
  const kept = new Set(after.split('\n').map((line) => line.trim()));
  for (const { removed, value } of diffLines(first.text, after))
    for (const line of removed ? value.split('\n').map((one) => one.trim()) : []) {
      if (line === '' || kept.has(line) || /[{[\]}]/.test(line)) continue;
      if (![...keys].some((key) => line.startsWith(key) || line.startsWith(`"${key}`) || line.startsWith(`- ${key}`)))
        harm('file whose other bytes changed', first, line);
    }
  const comments = (text: string): string[] =>
    [...text.matchAll(/(?:^|\s)(#[^\n'"]*)$/gm)].map(([, comment = '']) => comment.trim());
  const lost = comments(first.text).filter((comment) => !after.includes(comment));
  if (lost.length > 0) harm('file whose other bytes changed', first, `lost ${lost.join(' | ')}`);
}

const keysIn = (value: unknown, key: string): string[] => [
  key,
  ...(typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, child]) => keysIn(child, name))
    : []),
];

if (root === '') throw new Error('Name a folder: npm run advice:corpus -- DIR [-v]');
const folders = [
  root,
  ...readdirSync(root, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [join(entry.parentPath, entry.name)] : [],
  ),
];
for (const folder of folders.filter((one) => readdirSync(one).some((name) => /\.(ya?ml|json)$/i.test(name))))
  await judgeFolder(folder).catch((error: unknown) => {
    harm('stopped with an error', { file: folder }, String(error));
  });

for (const [what, times] of [...counts].sort(([a], [b]) => a.localeCompare(b)))
  console.log(String(times).padStart(6), what);
if (flags.includes('-v')) for (const line of harms) console.log(line);
