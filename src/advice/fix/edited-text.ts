/** Applies edits to the text of a manifest: what no edit changes stays byte for byte, and each change gets a comment that says why. */
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments, parseDocument } from 'yaml';
import { valueIn, yaml11 } from '../manifests.ts';
import type { Path } from '../container-spec.ts';
import { editedValue, type Edit } from './edit.ts';
import { isJson, withComment, withField, type YamlSource } from './text-changes.ts';

/** `at`: the object's path in its document, not empty for an item of a List. Undefined: a document cannot be edited as text without changing what else it says. */
export function editedText(
  text: string,
  objects: readonly { document: number; at: Path; edits: readonly Edit[] }[],
): string | undefined {
  const parts = documentTexts(text).map((part, index) => {
    const edits = objects
      .filter(({ document }) => document === index)
      .flatMap(({ at, edits: own }) => own.map((edit) => ({ ...edit, path: [...at, ...edit.path] })));
    return edits.length > 0 ? editedDocument(part, edits) : part;
  });
  return parts.includes(undefined) ? undefined : parts.join('');
}

/** The text of each document, whole lines: the parser ends an empty document before the end of its line. */
function documentTexts(text: string): string[] {
  const ends = parseAllDocuments(text, yaml11).map(({ range }) => text.indexOf('\n', Math.max(0, range[2] - 1)) + 1);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, index < ends.length - 1 ? end : undefined));
}

function editedDocument(text: string, edits: readonly Edit[]): string | undefined {
  const [, mark = '', body = '', end = ''] = /^(\ufeff?)(.*?)(\n?)$/s.exec(text) ?? [];
  const valueOf = (own: string): unknown => valueIn(sourceOf(own).document);
  const withEdit = (own: string, edit: Edit): string => {
    const edited = withField(sourceOf(own), edit.path, editedValue(valueOf(own), [edit]));
    return isJson(text) ? edited : commentedText(edited, edit);
  };
  const wanted = editedValue(valueOf(`${body}\n`), edits);
  const edited = edits.reduce(withEdit, `${body}\n`);
  return isDeepStrictEqual(valueOf(edited), wanted) ? mark + edited.slice(0, -1) + end : undefined;
}

const sourceOf = (text: string): YamlSource => {
  return { text, document: parseDocument(text, { ...yaml11, logLevel: 'error' }) };
};

/** With a comment above what is deepest on the path. */
export const commentedText = (text: string, { path, why }: Pick<Edit, 'path' | 'why'>): string =>
  withComment(sourceOf(text), path, why);
