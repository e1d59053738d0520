import { usageError } from './usage.ts';

const kinds = new Set(['pod', 'pods', 'po']);

/** `name`, `pod/name` or `pod name`. Throws for anything else. */
export function parsePod(words: readonly string[]): string {
  const [first = '', second, ...more] = words.flatMap((word) => (word.includes('/') ? word.split('/') : [word]));
  if (more.length > 0 || first === '')
    throw usageError(
      'target',
      `one pod is traced, but ${words.length === 0 ? 'none was' : 'several words were'} given`,
      'Write: kubectl podexit POD, pod/POD, or pod POD',
    );
  const name = second === undefined ? first : second;
  if (second !== undefined && !kinds.has(first.toLowerCase()))
    throw usageError('target', `"${first}" is no kind that can be traced`, 'Name a pod: POD, pod/POD, or pod POD');
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) || name.length > 253)
    throw usageError(
      'target',
      `"${name.slice(0, 80)}" cannot be the name of a pod`,
      'Names are lower-case letters, digits, "-" and "."; list pods with: kubectl get pods',
    );
  return name;
}
