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

/** kubectl's names for a kind: singular, plural, short; each with or without the API group after it. */
const types: Record<WorkloadResource | 'pods', readonly string[]> = {
  pods: ['pod', 'pods', 'po'],
  deployments: ['deployment', 'deployments', 'deploy'],
  statefulsets: ['statefulset', 'statefulsets', 'sts'],
  daemonsets: ['daemonset', 'daemonsets', 'ds'],
  replicasets: ['replicaset', 'replicasets', 'rs'],
  jobs: ['job', 'jobs'],
  services: ['service', 'services', 'svc'],
};

type SelectorFlags = Pick<Flags, 'selector' | 'fieldSelector'>;

/** Reads words as `kubectl delete` does, and nodes. Throws usageError `target` for nothing, or several other things. */
export function parseAnyTarget(words: readonly string[], flags: SelectorFlags = {}): AnyTarget {
  const [first = '', ...others] = words;
  const [type = '', name, ...more] = words.length === 1 ? first.split('/') : words;
  if (nodeTypes.includes(type.toLowerCase())) {
    if (name === undefined) throw noName('node');
    if (more.length > 0) throw notOne(words);
    return { kind: 'node', name: nameFrom(name, 'nodes'), ...(hasSelector(flags) && selectorIn(flags)) };
  }
  const isTypeFirst = !first.includes('/') && isType(first.split('.')[0] ?? '');
  if (hasSelector(flags) || words.length < 2 || (isTypeFirst && words.length === 2))
    return parseTarget(words, flags, ['node']);
  if (isTypeFirst && typeOf(first) !== 'pods') throw notOne(words);
  const names = [...new Set((isTypeFirst ? others : words).map((text) => podNamed(text, words)))];
  return names.length === 1 ? { kind: 'pod', name: names[0] ?? '' } : { kind: 'pods', names };
}

export const nodeTypes: readonly string[] = ['node', 'nodes', 'no'];

/** `NAME` or `pod/NAME`, one of several. */
function podNamed(text: string, words: readonly string[]): string {
  if (nodeTypes.includes(text.split('/')[0] ?? '') && text.includes('/')) throw notOne(words);
  const target = parseTarget(text.includes('/') ? [text] : ['pod', text]);
  if (target.kind === 'pod') return target.name;
  throw notOne(words);
}

/** Throws usageError `target` for words that name no pod, or several. `otherTypes`: what the command takes as well. */
export function parseTarget(
  words: readonly string[],
  flags: SelectorFlags = {},
  otherTypes: readonly string[] = [],
): Target {
  if (hasSelector(flags)) {
    const onlyPods = words.length === 0 || (words.length === 1 && typeOf(words[0] ?? '') === 'pods');
    if (onlyPods) return { kind: 'selector', ...selectorIn(flags) };
    throw usageError(
      'target',
      'a name and a selector cannot be given together',
      'Write: kubectl podexit -l SELECTOR, or kubectl podexit POD',
    );
  }
  const [first = '', second, ...more] = words.flatMap((text) => (text.includes('/') ? text.split('/') : [text]));
  if (more.length > 0 || first === '') throw notOne(words);
  if (second === undefined && isType(first)) throw noName(first);
  const resource = second === undefined ? 'pods' : typeOf(first);
  if (resource === undefined)
    throw usageError(
      'target',
      `unknown resource type "${shown(first)}"`,
      `Name it: ${[...typeNames, ...otherTypes].map((name) => `${name}/NAME`).join(', ')}`,
    );
  const name = nameFrom(second ?? first, resource);
  return resource === 'pods' ? { kind: 'pod', name } : { kind: 'workload', resource, name };
}

/**
 * The resource behind a name such as `deploy`, `deployments.apps` or `deployments.v1.apps`. A kind of the same name in
 * another API group does not count: `services.serving.knative.dev`, `jobs.batch.volcano.sh`.
 */
export function typeOf(text: string): WorkloadResource | 'pods' | undefined {
  const [name = '', ...behind] = text.toLowerCase().split('.');
  const found = (Object.keys(types) as (keyof typeof types)[]).find((resource) => types[resource].includes(name));
  if (found === undefined) return undefined;
  // What may follow the name: the group, or version and group (the core group is empty), or nothing.
  const [version = '', group = ''] = (found === 'pods' ? 'v1' : workloadKinds[found].group).split('/').reverse();
  return ['', group, `${version}.${group}`].includes(behind.join('.')) ? found : undefined;
}

export const typeNames = Object.values(types).map(([singular = '']) => singular);

const hasSelector = ({ selector, fieldSelector }: SelectorFlags): boolean =>
  selector !== undefined || fieldSelector !== undefined;

function selectorIn(flags: SelectorFlags): PodSelector {
  const { selector: labels = '', fieldSelector: fields = '' } = flags;
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

function notOne(words: readonly string[]): Error {
  const named = words.filter((text) => text !== '').map(shown);
  const wrong = `only pods can be named together, not ${named.join(' ')}`;
  const alone = named.length === 0 ? 'no pod was named' : `"${named.join('')}" is neither a pod nor TYPE/NAME`;
  return usageError(
    'target',
    named.length > 1 ? wrong : alone,
    'Name it: POD, several PODs, pod/POD, deployment/NAME, node/NAME, or -l SELECTOR',
  );
}

function nameFrom(name: string, resource: WorkloadResource | 'pods' | 'nodes'): string {
  if (/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) && name.length <= 253) return name;
  throw usageError(
    'target',
    `"${shown(name)}" cannot be the name of a ${resource === 'nodes' ? 'node' : (types[resource][0] ?? 'pod')}`,
    `Names are lower-case letters, digits, "-" and "."; list them with: kubectl get ${resource}`,
  );
}

/** No kind or name contains "=": the text after it may be the value of a flag without its dashes. */
const shown = (text: string): string => text.replace(/=[^]*$/, '=…').slice(0, 80);

export const manifestFlags = {
  '-f, --filename <file>': 'manifests: a file, a folder, an https URL, or - for standard input; may be repeated',
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
