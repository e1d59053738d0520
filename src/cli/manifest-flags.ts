/** The flags of kubectl that name manifests. */
import type { Command } from 'commander';
import type { ManifestInput } from '../advice/manifest-input.ts';
import type { Flags } from './command.ts';
import { collect } from './connection-flags.ts';
import { usageError } from './usage.ts';

export const addManifestFlags = (command: Command): Command =>
  command
    .option(
      '-f, --filename <file>',
      'manifests: a file, a folder, an https URL, or - for standard input; may be repeated',
      collect,
    )
    .option('-R, --recursive', 'with -f FOLDER: the folders in it too')
    .option('-k, --kustomize <folder>', 'what kubectl kustomize builds from this folder');

/** No Kubernetes name ends like this in practice: `check web.yaml` means the file. */
export const isManifest = (word: string): boolean => /\.(ya?ml|json)$|\/$|^\.{0,2}\//i.test(word);

/** `files`: named without -f. Undefined: no manifest is named. Throws usageError `manifests`. */
export function manifestsIn(flags: Flags, files: readonly string[]): ManifestInput | undefined {
  const { filename = [], recursive: isRecursive = false, kustomize: kustomization } = flags;
  const names = [...filename, ...files];
  if (kustomization !== undefined && (names.length > 0 || isRecursive))
    throw usageError('manifests', '-k cannot be given together with -f or -R', 'kubectl does not allow it either.');
  if (isRecursive && names.length === 0) throw usageError('manifests', '-R needs a folder', 'Name it: -R -f FOLDER');
  return kustomization === undefined && names.length === 0 ? undefined : { names, isRecursive, kustomization };
}
