/** Edits of manifests of every style: the object gets the edits, and every line that no edit is about stays as it was. */
import { parseAllDocuments } from 'yaml';
import { expect, it } from 'vitest';
import type { Path } from '../../src/advice/container-spec.ts';
import { childOf, editedValue, type Edit } from '../../src/advice/fix/edit.ts';
import { editedText } from '../../src/advice/fix/edited-text.ts';
import { casesIn } from '../helpers/case-file.ts';
import { seeded } from '../helpers/seeded.ts';
import { rounds } from '../helpers/sweep.ts';
import { authorOf, drawObject, rowsOf, type Draw, type Row } from './helpers/yaml-author.ts';

const valuesIn = (text: string): unknown[] =>
  parseAllDocuments(text, { version: '1.1' }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as unknown;
  });

const why = 'because';

function drawEdits(draw: Draw, object: Record<string, unknown>): Edit[] {
  const containers = (object['spec'] as { containers: unknown[] }).containers;
  const path = ['spec', 'containers', draw(containers.length)];
  const edits: Edit[] = [
    { path: ['spec', 'replicas'], value: 2, why },
    { path: ['spec', 'terminationGracePeriodSeconds'], value: 40, why },
    { path: ['spec', 'strategy'], value: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, b: 0 } }, why },
    { path: [...path, 'lifecycle', 'preStop'], value: { sleep: { seconds: 10 } }, why },
  ];
  // A list or a text where the API has a map is no manifest.
  const isFit = (edit: Edit): boolean =>
    [...edit.path, ''].every((step, at) => {
      const parent = edit.path.slice(0, at).reduce<unknown>(childOf, object);
      const isText = typeof parent === 'string' && typeof edit.value === 'object';
      return typeof step === 'number' || !(isText || Array.isArray(parent));
    });
  return edits.filter((edit) => draw(3) === 0 && isFit(edit));
}

const startsWith = (path: Path, start: Path): boolean => start.every((step, at) => path[at] === step);

/** No edit changes what the line says. */
const isUntouched = ({ path, isWhole }: Row, edits: readonly Edit[]): boolean =>
  edits.every(({ path: target }) => !startsWith(path, target) && !(isWhole && startsWith(target, path)));

it('what was edited reads as it should, and all other lines stay byte for byte', () => {
  for (let seed = 1; seed <= rounds(120, 40_000); seed++) {
    const random = seeded(seed);
    const draw: Draw = (limit) => Math.floor(random() * limit);
    const drawn = drawObject(draw);
    const edits = drawEdits(draw, drawn);
    const eol = draw(4) === 0 ? '\r\n' : '\n';
    const rows = rowsOf(authorOf(draw), drawn);
    const own = rows.map(({ text }) => text + eol).join('');
    const other = `# head${eol}kind: ConfigMap # not edited${eol}data: {a:   b}${eol}---${eol}`;
    const before = draw(3) === 0 ? '' : other;
    const text = `${before}${own}${draw(3) === 0 ? `---${eol}# tail${eol}` : ''}`;
    const document = before === '' ? 0 : 1;
    const what = `seed ${seed}\n${JSON.stringify(edits)}\n${text}`;
    const object = valuesIn(text)[document] as Record<string, unknown>;
    const result = editedText(text, [{ document, at: [], edits }]) ?? '';
    const wanted = valuesIn(text).with(document, editedValue(object, edits));
    expect(valuesIn(result), what).toEqual(wanted);
    expect(result.startsWith(before)).toBe(true);
    for (const [note] of text.matchAll(/# note \d+\b/g)) expect(result.split(`${note}${eol}`), what).toHaveLength(2);
    // Without the field beside its dash, the next one stands there.
    const undashed = (line: string): string => line.replace(/^( *)- /, '$1  ');
    const lines = result.slice(before.length).split('\n').map(undashed);
    let at = 0;
    for (const row of rows.filter((one) => one.text !== '' && isUntouched(one, edits))) {
      const found = lines.indexOf(undashed(row.text) + eol.slice(0, -1), at);
      expect(found, `${row.text}\n${what}=>\n${result}`).toBeGreaterThanOrEqual(0);
      at = found + 1;
    }
  }
});

interface Case {
  set: Path;
  value?: unknown;
  text: string;
  wanted: string;
}

it.each(casesIn<Case>(new URL('edited-text.yaml', import.meta.url), ['set', 'value', 'text', 'wanted']))(
  'one edit: %s',
  (_, { set: path, value, text, wanted }) => {
    expect(editedText(text, [{ document: 0, at: [], edits: [{ path, value, why }] }])).toBe(wanted);
  },
);
