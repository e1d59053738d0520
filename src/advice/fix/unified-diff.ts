/** Two texts → a unified diff, as `diff -u` and `git apply` read it. Pure. */
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';

/** Empty if nothing differs. */
export function unifiedDiff(before: string, after: string, file: string): string {
  const patch = structuredPatch(file, file, before, after, undefined, undefined, { context: 3 });
  return patch.hunks.length === 0 ? '' : formatPatch(patch, FILE_HEADERS_ONLY);
}
