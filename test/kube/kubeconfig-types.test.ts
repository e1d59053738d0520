/** Like kubectl, podexit refuses a kubeconfig in which a known field has a wrong type: it could act as another user. */
import { describe, expect, it } from 'vitest';
import { casesIn } from '../helpers/case-file.ts';
import { parsed } from './helpers/kubeconfig.ts';

const user = (fields: string) => parsed(`users: [{name: u, user: ${fields}}]`, '/c').users.get('u');
const cluster = (fields: string) => parsed(`clusters: [{name: c, cluster: ${fields}}]`, '/c').clusters.get('c');

it.each(casesIn<string>(new URL('kubeconfig-types.yaml', import.meta.url)))('%s is refused', (text, what) => {
  const parse = () => parsed(text, '/c');
  expect(parse).toThrow(expect.objectContaining({ code: 'kubeconfig.invalid' }) as Error);
  expect(parse).toThrow(what);
});

describe('an unquoted word in a text field', () => {
  it.each([
    '0123',
    '089',
    '1e3',
    '0x1F',
    '0X1F',
    '-0x1',
    '0o17',
    '0b11',
    '1_000',
    '12345678901234567890',
    '+1',
    '.5',
    '5.',
    '.inf',
    '.NaN',
  ])('is refused if it is a number in kubectl’s YAML: %s', (word) =>
    expect(() => user(`{username: ${word}}`)).toThrow('is a number, not text; put it in quotes'),
  );

  it.each(['y', 'No', 'on', 'OFF', 'TRUE'])('is refused if it is a boolean in kubectl’s YAML: %s', (word) =>
    expect(() => user(`{username: ${word}}`)).toThrow('is true or false, not text; put it in quotes'),
  );

  it.each(['1:20', '2001-01-01', '0.0.1', '0x', '0o8', '_1', '1e', '1e400', 'yES', 'tRUE', 'nULL', '='])(
    'is text without quotes if kubectl’s YAML reads it so: %s',
    (word) => expect(user(`{username: ${word}}`)).toEqual({ username: word }),
  );

  it.each(['"0123"', "'on'", '!!str 5'])('is text with quotes or !!str: %s', (word) =>
    expect(user(`{username: ${word}}`)).toEqual({ username: word.replace(/^!!str |["']/g, '') }),
  );

  it.each(['~', 'null', 'NULL', '""', ''])('counts as absent if it is null or empty: %s', (word) =>
    expect(user(`{username: ${word}, token: t}`)).toEqual({ token: 't' }),
  );
});

describe('a switch', () => {
  it.each([
    ['true', true],
    ['yes', true],
    ['On', true],
    ['y', true],
    ['no', undefined],
    ['off', undefined],
    ['~', undefined],
  ])('is read as in kubectl’s YAML: %s', (word, on) =>
    expect(cluster(`{insecure-skip-tls-verify: ${word}}`)).toEqual(
      on === undefined ? {} : { insecureSkipTlsVerify: on },
    ),
  );

  it.each(['maybe', '"true"', 'oN', '1'])('that is not a boolean is refused: %s', (word) =>
    expect(() => cluster(`{insecure-skip-tls-verify: ${word}}`)).toThrow('is neither true nor false'),
  );
});

describe('certificate data', () => {
  it.each(['!!!!', 'Zm9', 'Zm 9v', 'Zm9-', 'Zg='])('that Go’s base64 cannot decode is refused: %j', (data) => {
    expect(() => cluster(`{certificate-authority-data: "${data}"}`)).toThrow('is not valid base64');
    expect(() => user(`{client-certificate-data: "${data}"}`)).toThrow('is not valid base64');
    expect(() => user(`{client-key-data: "${data}"}`)).toThrow('is not valid base64');
  });

  it.each(['Zm9v', 'Zm9=', 'Zg==', '\\nZm\\r\\n9v\\n'])('that Go’s base64 can decode is accepted: %j', (data) =>
    expect(cluster(`{certificate-authority-data: "${data}"}`)).toHaveProperty('certificateAuthorityData'),
  );
});
