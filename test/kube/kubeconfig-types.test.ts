/** Like kubectl, podexit refuses a kubeconfig in which a known field has a wrong type: it could act as another user. */
import { expect, it } from 'vitest';
import { casesIn } from '../helpers/case-file.ts';
import { parsed } from './helpers/kubeconfig.ts';

const user = (fields: string) => parsed(`users: [{name: u, user: ${fields}}]`, '/c').users.get('u');
const cluster = (fields: string) => parsed(`clusters: [{name: c, cluster: ${fields}}]`, '/c').clusters.get('c');

it.each(casesIn<string>(new URL('kubeconfig-types.yaml', import.meta.url)))('%s is refused', (text, what) => {
  const parse = () => parsed(text, '/c');
  expect(parse).toThrow(expect.objectContaining({ code: 'kubeconfig.invalid' }) as Error);
  expect(parse).toThrow(what);
});

it.each([
  ['089', 'a number'],
  ['0x1F', 'a number'],
  ['1e3', 'a number'],
  ['y', 'true or false'],
  ['OFF', 'true or false'],
])('an unquoted word in a text field is refused if it is no text in kubectl’s YAML: %s', (word, what) =>
  expect(() => user(`{username: ${word}}`)).toThrow(`is ${what}, not text; put it in quotes`),
);

it.each(['1:20', '2001-01-01', 'yES', '"0123"', '!!str 5'])(
  'a word is text where kubectl’s YAML reads it so: %s',
  (word) => expect(user(`{username: ${word}}`)).toEqual({ username: word.replace(/^!!str |["']/g, '') }),
);

it.each(['~', '""'])('a field counts as absent if it is null or empty: %s', (word) =>
  expect(user(`{username: ${word}, token: t}`)).toEqual({ token: 't' }),
);

it.each([
  ['yes', { insecureSkipTlsVerify: true }],
  ['off', {}],
])('a switch is read as in kubectl’s YAML: %s', (word, read) =>
  expect(cluster(`{insecure-skip-tls-verify: ${word}}`)).toEqual(read),
);
