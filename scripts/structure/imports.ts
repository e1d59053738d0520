/** Which source file imports which, read from the text of the import statements. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';

export interface Import {
  /** The importing file: its path below the source folder. */
  file: string;
  /** The imported file: its path below the source folder; else the specifier as written. */
  target: string;
  /** `type` imports vanish when compiled; a `dynamic` import is loaded only when it is reached. */
  kind: 'runtime' | 'type' | 'dynamic';
}

export interface SourceFile {
  /** Its path below the source folder, with slashes. */
  path: string;
  lines: number;
  text: string;
}

export function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|js|mjs)$/.test(file))
    .map((file) => ({ path: file.split(sep).join('/'), text: readFileSync(join(folder, file), 'utf8') }))
    .map(({ path, text }) => ({ path, text, lines: text.split('\n').length - 1 }));
}

export function importsOf({ path, text }: SourceFile): Import[] {
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^;'"]*?from\s+)?'([^']+)'/gm);
  const expressions = text
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    .matchAll(/(typeof )?\bimport\('([^']+)'\)(\.[A-Z])?/g);
  return [
    ...[...statements].map(([, type, specifier = '']) => ({
      file: path,
      target: targetOf(path, specifier),
      kind: type === undefined ? ('runtime' as const) : ('type' as const),
    })),
    ...[...expressions].map(([, type, specifier = '', member]) => ({
      file: path,
      target: targetOf(path, specifier),
      kind: type === undefined && member === undefined ? ('dynamic' as const) : ('type' as const),
    })),
  ];
}

function targetOf(file: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier;
}
