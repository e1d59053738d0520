/** A command's result in each format that it can be printed in. Only the asked renderer is loaded. */
import type { Format } from './formats.ts';
import { plainPen, type Pen } from './palette.ts';

export interface Views<R> {
  /** Lines for people, of at most `columns`. */
  text(result: R, pen: Pen, columns: number): string[] | Promise<string[]>;
  /** The answer in one line. */
  sentence(result: R): string | Promise<string>;
  /** What JSON, YAML and templates show; absent: the result itself. */
  document?(result: R): object;
  /** The rows of `-o custom-columns`; absent: the document is the only one. */
  rows?(result: R): object[];
  others?: Partial<Record<Format['kind'], (result: R) => string | Promise<string>>>;
}

/** The result in a format. `pen` and `columns` are for text. */
export async function render<R>(format: Format, views: Views<R>, result: R, pen = plainPen, columns = Infinity) {
  const own = views.others?.[format.kind];
  if (own) return own(result);
  const document = (): object => views.document?.(result) ?? (result as object);
  switch (format.kind) {
    case 'json':
      return (await import('./machine/json.ts')).renderJson(document());
    case 'yaml':
      // JSON drops undefined fields.
      return (await import('./machine/yaml.ts')).printYaml(JSON.parse(JSON.stringify(document())));
    case 'jsonpath':
      return (await import('./machine/jsonpath.ts')).renderJsonPath(document(), format.template);
    case 'jsonpath-as-json':
      return (await import('./machine/jsonpath.ts')).renderJsonPathAsJson(document(), format.template);
    case 'custom-columns': {
      const rows = views.rows?.(result) ?? [document()];
      return (await import('./machine/jsonpath.ts')).renderColumns(rows, format.template);
    }
    case 'sentence':
      return `${(await import('./safe-text.ts')).forChat(await views.sentence(result))}\n`;
    default:
      return `${pen.letters((await views.text(result, pen, columns)).join('\n'))}\n`;
  }
}
