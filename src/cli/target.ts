/** Parses the words that name the target: POD, TYPE/NAME, TYPE NAME, or none with `-l`. */
import {
  workloadKinds,
  type AnyTarget,
  type PodSelector,
  type Target,
  type WorkloadResource,
} from '../run/choosing/target.ts';
import type { ManifestInput } from '../advice/manifest-input.ts';
import type { Flags, FlagsOf } from './flags.ts';
import { usageError } from './usage.ts';

type Resource = WorkloadResource | 'pods' | 'nodes';

/** kubectl's names for a kind: singular, plural, short; each with or without the API group after it. */
const types: Record<Resource, readonly string[]> = {
  pods: ['pod', 'pods', 'po'],
  deployments: ['deployment', 'deployments', 'deploy'],
  statefulsets: ['statefulset', 'statefulsets', 'sts'],
  daemonsets: ['daemonset', 'daemonsets', 'ds'],
  replicasets: ['replicaset', 'replicasets', 'rs'],
  jobs: ['job', 'jobs'],
  services: ['service', 'services', 'svc'],
  nodes: ['node', 'nodes', 'no'],
};

type SelectorFlags = Pick<Flags, 'selector' | 'fieldSelector'>;

/**
 * Reads words as `kubectl delete` does, and nodes. Throws usageError `target` for nothing, or several other things.
 * `isOne`: also for several pods, and for a node.
 */
export function parseAnyTarget(words: readonly string[], flags: SelectorFlags = {}, isOne = false): AnyTarget {
  const { type, names } = typeAndNames(words, isOne);
  const resource = typeOf(type);
  if (resource === undefined || (isOne && resource === 'nodes')) {
    const known = typeNames.filter((name) => name !== 'node' || !isOne);
    const hint = `Name it: ${known.map((name) => `${name}/NAME`).join(', ')}`;
    throw usageError('target', `unknown resource type "${shown(type)}"`, hint);
  }
  const selector = selectorIn(flags);
  if (selector && resource !== 'nodes') {
    if (resource === 'pods' && names.length === 0) return { kind: 'selector', ...selector };
    throw usageError(
      'target',
      'a name and a selector cannot be given together',
      'Write: kubectl podexit -l SELECTOR, or kubectl podexit POD',
    );
  }
  const [name, ...others] = new Set(names);
  if (words.join('') === '') throw notOne(words, isOne);
  if (name === undefined) throw noName(type);
  if (others.length > 0 && (isOne || resource !== 'pods')) throw notOne(words, isOne);
  // An empty word too, which is probably an unset variable in a script.
  for (const one of [name, ...others]) assertName(one, resource);
  if (resource === 'nodes') return { kind: 'node', name, ...selector };
  if (resource !== 'pods') return { kind: 'workload', resource, name };
  return others.length > 0 ? { kind: 'pods', names: [name, ...others] } : { kind: 'pod', name };
}

/** The same for commands that take one pod or workload. */
export const parseTarget = (words: readonly string[], flags?: SelectorFlags): Target =>
  parseAnyTarget(words, flags, true) as Target;

/** The type as it was written, `pod` for a name without one, and the names behind it. */
function typeAndNames(words: readonly string[], isOne: boolean): { type: string; names: readonly string[] } {
  const [first = 'pod', ...names] = words;
  // `deploy.web` alone is a pod; before a name it is a type of an API group.
  const isTypeFirst = !first.includes('/') && isType(names.length > 0 ? (first.split('.')[0] ?? '') : first);
  if (isTypeFirst && !names.some((name) => name.includes('/'))) return { type: first, names };
  const pairs = words.map((word) => (word.includes('/') ? word.split('/') : ['pod', word]));
  const [[type = ''] = []] = pairs;
  const isOther = ([one = '', , ...more]: string[]): boolean => more.length > 0 || typeOf(one) !== typeOf(type);
  if (isTypeFirst || type === '' || pairs.some(isOther)) throw notOne(words, isOne);
  return { type, names: pairs.map(([, name = '']) => name) };
}

/**
 * The resource behind a name such as `deploy`, `deployments.apps` or `deployments.v1.apps`. A kind of the same name in
 * another API group does not count: `services.serving.knative.dev`, `jobs.batch.volcano.sh`.
 */
export function typeOf(text: string): Resource | undefined {
  const [name = '', ...behind] = text.toLowerCase().split('.');
  const found = (Object.keys(types) as Resource[]).find((resource) => types[resource].includes(name));
  if (found === undefined) return undefined;
  // What may follow the name: the group, or version and group (the core group is empty), or nothing.
  const group = found === 'pods' || found === 'nodes' ? 'v1' : workloadKinds[found].group;
  const [version = '', own = ''] = group.split('/').reverse();
  return ['', own, `${version}.${own}`].includes(behind.join('.')) ? found : undefined;
}

export const typeNames = Object.values(types).map(([singular = '']) => singular);

function selectorIn({ selector, fieldSelector }: SelectorFlags): PodSelector | undefined {
  if (selector === undefined && fieldSelector === undefined) return undefined;
  const [labels, fields] = [selector ?? '', fieldSelector ?? ''];
  // Probably an unset variable in a script; kubectl refuses an empty selector for delete too.
  if (labels.trim() === '' && fields.trim() === '')
    throw usageError('target', 'the selector is empty, and would select every pod', 'Name labels: -l app=web');
  return { labels, fields };
}

const isType = (text: string): boolean => Object.values(types).some((words) => words.includes(text.toLowerCase()));

/** As in kubectl, a kind alone is an error; a pod may still have such a name. */
const noName = (type: string): Error =>
  usageError(
    'target',
    `"${type}" is a kind; its name is missing`,
    `Write ${type}/NAME; a pod of that name is written pod/${type}.`,
  );

function notOne(words: readonly string[], isOne: boolean): Error {
  const named = words.map((text) => (text === '' ? '""' : shown(text))).join(' ');
  const together = `only ${isOne ? 'one' : 'pods'} can be named${isOne ? '' : ' together'}, not ${named}`;
  const wrong = words.length > 1 ? together : `"${named}" is neither a pod nor TYPE/NAME`;
  return usageError(
    'target',
    words.join('') === '' ? 'no pod was named' : wrong,
    `Name it: POD, ${isOne ? 'pod/POD or deployment/NAME' : 'several PODs, pod/POD, deployment/NAME, node/NAME, or -l SELECTOR'}`,
  );
}

function assertName(name: string, resource: Resource): void {
  if (/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) && name.length <= 253) return;
  throw usageError(
    'target',
    `"${shown(name)}" cannot be the name of a ${types[resource][0] ?? ''}`,
    `Names are lower-case letters, digits, "-" and "."; list them with: kubectl get ${resource}`,
  );
}

/** No kind or name contains "=": the text after it may be the value of a flag without its dashes. */
const shown = (text: string): string => text.replace(/=[^]*$/, '=…').slice(0, 80);

export const manifestFlags = {
  '-f, --filename <file>': 'manifests: a file, a folder, or - for standard input; may be repeated',
  '-R, --recursive': 'with -f FOLDER: the folders in it too',
  '-k, --kustomize <folder>': 'what kubectl kustomize builds from this folder',
};

/** A command line without a target. `verb`: what would be done with it; `targets`: what can be named. */
export const nothingTo = (verb: string, targets: string): Error =>
  usageError('target', `nothing to ${verb} was named`, `Name it: ${targets}`);

/**
 * The manifests that flags and words name, if any, and the words that are left. No Kubernetes name ends like `files` in
 * practice: `check web.yaml` means the file. Throws usageError `manifests`.
 */
export function manifestsIn(
  flags: FlagsOf<{ manifests: typeof manifestFlags }>,
  words: readonly string[],
  files = /\.ya?ml$/i,
) {
  const { filename = [], recursive: isRecursive = false, kustomize: kustomization } = flags;
  const names = [...filename, ...words.filter((word) => files.test(word))];
  if (kustomization !== undefined && (names.length > 0 || isRecursive))
    throw usageError('manifests', '-k cannot be given together with -f or -R', 'kubectl does not allow it either.');
  if (isRecursive && names.length === 0) throw usageError('manifests', '-R needs a folder', 'Name it: -R -f FOLDER');
  const input: ManifestInput = { names, isRecursive, kustomization };
  return {
    input: kustomization === undefined && names.length === 0 ? undefined : input,
    target: words.filter((word) => !files.test(word)),
  };
}
