import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { rowOf, rows } from '../../src/programs/rows.ts';

const dataOf = (name: string): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../src/programs/data/${name}.json`, import.meta.url)), 'utf8'));

const schema = dataOf('schema') as object;

it.each([
  ['programs', 'programs'],
  ['wrappers', 'programs'],
  ['shells', 'shells'],
  ['traps', 'traps'],
  ['images', 'images'],
  ['commands', 'commands'],
  ['signals', 'signalNumbers'],
])('describes each field of %s.json', (file, part) => {
  const ajv = new Ajv2020({ formats: { regex: (text: string) => RegExp(text) instanceof RegExp } });
  const validate = ajv.compile({ ...schema, $ref: `#/$defs/${part}` });
  validate(dataOf(file));
  expect(validate.errors).toBeNull();
});

it('finds each program by each of its names, and no two rows have the same one', () => {
  const names = rows.flatMap(({ match }) => match);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  const lost = rows.flatMap(({ name, match }) =>
    match.filter((one) => rowOf(/^(busy|toy)box /.test(one) ? [one] : one.split(' '))?.name !== name),
  );
  expect(lost).toEqual([]);
});
