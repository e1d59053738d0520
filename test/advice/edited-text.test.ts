/** Edits of manifests of every style: the object gets the edits, and every line that no edit is about stays as it was. */
import { parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import type { Path } from '../../src/advice/container-spec.ts';
import { editedValue, type Edit } from '../../src/advice/fix/edit.ts';
import { editedText } from '../../src/advice/fix/edited-text.ts';
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
  const containers = (object['spec'] as { containers: { name: string }[] }).containers;
  const index = draw(containers.length);
  const path = ['spec', 'containers', index];
  const edits: Edit[] = [
    { kind: 'set', path: ['spec', 'replicas'], value: 2, why },
    { kind: 'set', path: ['spec', 'terminationGracePeriodSeconds'], value: 40, why },
    {
      kind: 'set',
      path: ['spec', 'strategy'],
      value: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, b: 0 } },
      why,
    },
    { kind: 'set', path: [...path, 'lifecycle', 'preStop'], value: { sleep: { seconds: 10 } }, why },
    { kind: 'set', path: [...path, 'lifecycle', 'a'], value: 'two\nlines\n', why },
    { kind: 'set', path: [...path, 'ports'], value: [{ name: 'a' }, 'b', []], why },
    { kind: 'move', path: ['spec', 'containers', containers[index]?.name ?? ''], to: ['spec', 'initContainers'], why },
  ];
  const drawn = edits.filter(() => draw(4) === 0);
  return containers.length > 1 ? drawn : drawn.filter(({ kind }) => kind !== 'move');
}

const startsWith = (path: Path, start: Path): boolean => start.every((step, at) => path[at] === step);

/** No edit changes what the line says. */
function isUntouched({ path, isWhole }: Row, edits: readonly Edit[], object: object): boolean {
  const targets = edits.flatMap((edit) => [
    { kind: edit.kind, path: edit.kind === 'move' ? edit.path.slice(0, -1) : edit.path },
    ...(edit.kind === 'move' ? [{ kind: 'set', path: edit.to }] : []),
  ]);
  return targets.every(({ kind, path: target }) => {
    const old = target.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], object);
    if (kind !== 'set' && old === undefined) return true;
    return !startsWith(path, target) && !(isWhole && startsWith(target, path));
  });
}

/** Such a move is left to the patches: the text would have to be written anew. */
const isMovedInBrackets = (edits: readonly Edit[], text: string): boolean =>
  edits.some(({ kind }) => kind === 'move') && /^ *["']?(spec|(initC|c)ontainers)["']?:.*[[{]/m.test(text);

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
    const result = editedText(text, [{ document, at: [], edits }]);
    if (result === undefined) {
      expect(isMovedInBrackets(edits, text), what).toBe(true);
      continue;
    }
    const wanted = valuesIn(text).with(document, editedValue(object, edits));
    expect(valuesIn(result), what).toEqual(wanted);
    expect(result.startsWith(before)).toBe(true);
    for (const [note] of text.matchAll(/# note \d+\b/g)) expect(result.split(`${note}${eol}`), what).toHaveLength(2);
    // Without the field beside its dash, the next one stands there.
    const undashed = (line: string): string => line.replace(/^( *)- /, '$1  ');
    const lines = result.slice(before.length).split('\n').map(undashed);
    let at = 0;
    for (const row of rows.filter((one) => one.text !== '' && isUntouched(one, edits, object))) {
      const found = lines.indexOf(undashed(row.text) + eol.slice(0, -1), at);
      expect(found, `${row.text}\n${what}=>\n${result}`).toBeGreaterThanOrEqual(0);
      at = found + 1;
    }
  }
});

describe('one edit', () => {
  const set = (path: Path, value: unknown): Edit => ({ kind: 'set', path, value, why });
  const move: Edit = { kind: 'move', path: ['list', 'a'], to: ['init'], why };
  it.each<[string, string, Edit, string]>([
    ['a value keeps its comment', "surge: '25%' # c\n", set(['surge'], 1), '# because\nsurge: 1 # c\n'],
    ['an empty value gets lines', 'a: # c\nb: 1\n', set(['a'], { x: [1] }), '# because\na: # c\n  x:\n    - 1\nb: 1\n'],
    ['empty braces get lines', 'a: {} # c\n', set(['a', 'x'], 1), 'a: # c\n  # because\n  x: 1\n'],
    ['braces get a field', '- a: {x: 1} # c\n', set([0, 'a', 'w'], 2), '# because\n- a: {x: 1, w: 2} # c\n'],
    ['spaced braces stay spaced', 'a: { x: 1 }\n', set(['a', 'w'], { z: 1 }), '# because\na: { x: 1, w: { z: 1 } }\n'],
    [
      'a replaced map keeps comments',
      'a: # c\n  # d\n  x: 1 # e\nb: 2\n',
      set(['a'], { w: 1 }),
      '# because\na: # c\n  # d\n  # e\n  w: 1\nb: 2\n',
    ],
    [
      'JSON in lines',
      '{\n\t"a": {\n\t\t"x": 1\n\t}\n}\n',
      set(['a', 'w'], { z: 2 }),
      '{\n\t"a": {\n\t\t"x": 1,\n\t\t"w": {\n\t\t\t"z": 2\n\t\t}\n\t}\n}\n',
    ],
    ['JSON in one line', '{"a":{"x": 1.50}}', set(['a', 'w'], 'no'), '{"a":{"x": 1.50, "w": "no"}}'],
    [
      'an alias is replaced if it changes',
      'a: &x {b: 1}\nc: *x # d\n',
      set(['c', 'b'], 2),
      'a: &x {b: 1}\n# because\nc: {b: 2} # d\n',
    ],
    [
      'a merged field',
      'a: &x {b: {c: 1}}\nd:\n  <<: *x\n',
      set(['d', 'b', 'e'], 2),
      'a: &x {b: {c: 1}}\nd:\n  <<: *x\n  b:\n    c: 1\n    # because\n    e: 2\n',
    ],
    [
      'an item moves with its comments',
      'list:\n# own\n- name: a # c\n  # d\n# other\n- name: b\n',
      move,
      'list:\n# other\n- name: b\ninit:\n# own\n# because\n- name: a # c\n  # d\n',
    ],
    [
      'an item moves to another column',
      'list:\n- name: a\n  x: |\n    text\n- name: b\ninit:\n  - name: c # d\n',
      move,
      'list:\n- name: b\ninit:\n  - name: c # d\n  # because\n  - name: a\n    x: |\n      text\n',
    ],
    [
      'a block text with all its line feeds',
      'a:\n  b: |+\n    x\n\nc: 1\n',
      set(['a', 'd'], 2),
      'a:\n  b: |+\n    x\n\n  # because\n  d: 2\nc: 1\n',
    ],
    ['no line feed at the end', 'a:\n  b: 1', set(['a', 'c'], 2), 'a:\n  b: 1\n  # because\n  c: 2'],
    ['a comment that is there already', '# because\na: 1\n', set(['a'], 2), '# because\na: 2\n'],
    [
      'braces in lines with a comma at the end',
      'a: {\n  x: 1, # c\n}\n',
      set(['a', 'w'], 2),
      '# because\na: {\n  x: 1, # c\n  w: 2\n}\n',
    ],
    [
      'braces in lines with a comment',
      'a: {\n  x: 1 # c\n}\n',
      set(['a', 'w'], 2),
      '# because\na: {\n  x: 1, # c\n  w: 2\n}\n',
    ],
  ])('%s', (_title, text, edit, wanted) => {
    expect(editedText(text, [{ document: 0, at: [], edits: [edit] }])).toBe(wanted);
  });
});
