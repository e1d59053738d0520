/** Like kubectl, podexit refuses a kubeconfig in which a known field has a wrong type: it could act as another user. */
import { describe, expect, it } from 'vitest';
import { parsed } from './helpers/kubeconfig.ts';

const user = (fields: string) => parsed(`users: [{name: u, user: ${fields}}]`, '/c').users.get('u');
const cluster = (fields: string) => parsed(`clusters: [{name: c, cluster: ${fields}}]`, '/c').clusters.get('c');

describe('a kubeconfig with a wrong type is refused, with the field', () => {
  it.each([
    ['users: [{name: u, user: {as: [jane]}}]', 'users[0].user.as" is a list'],
    ['users: [{name: u, user: {as: true}}]', 'users[0].user.as" is true or false'],
    ['users: [{name: u, user: {as: jane, as-groups: dev}}]', 'users[0].user.as-groups" is text, not a list'],
    ['users: [{name: u, user: {as: jane, as-groups: [5]}}]', 'users[0].user.as-groups[0]" is a number'],
    [
      'users: [{name: u, user: {as: jane, as-user-extra: {k: v}}}]',
      'users[0].user.as-user-extra.k" is text, not a list',
    ],
    ['users: [{name: u, user: {as: jane, as-user-extra: [k]}}]', 'users[0].user.as-user-extra" is a list'],
    ['users: [{name: v}, {name: u, user: foo}]', 'users[1].user" is text, not a mapping'],
    ['users: [foo]', 'users[0]" is text, not a mapping'],
    ['users: [{name: 7}]', 'users[0].name" is a number'],
    ['users: [{name: u, user: {exec: foo}}]', 'users[0].user.exec" is text'],
    ['users: [{name: u, user: {exec: {env: {a: b}}}}]', 'users[0].user.exec.env" is a mapping'],
    ['users: [{name: u, user: {exec: {env: [{name: a, value: 5}]}}}]', 'users[0].user.exec.env[0].value" is a number'],
    [
      'users: [{name: u, user: {exec: {provideClusterInfo: "true"}}}]',
      'exec.provideClusterInfo" is neither true nor false',
    ],
    ['users: [{name: u, user: {auth-provider: {name: a, config: {x: 5}}}}]', 'auth-provider.config.x" is a number'],
    ['contexts: [{name: x, context: foo}]', 'contexts[0].context" is text'],
    ['contexts: [{name: x, context: {namespace: true}}]', 'contexts[0].context.namespace" is true or false'],
    ['contexts: [{name: x, context: {namespace: on}}]', 'contexts[0].context.namespace" is true or false'],
    ['contexts: [{name: x, context: {namespace: [n]}}]', 'contexts[0].context.namespace" is a list'],
    ['contexts: [{name: x, context: {namespace: {}}}]', 'contexts[0].context.namespace" is a mapping'],
    ['contexts: [{name: x}, {name: x}]', 'contexts[1]" has the name of an earlier one'],
    ['clusters: [{name: x}, {name: x}]', 'clusters[1]" has the name of an earlier one'],
    ['users: [{name: x}, {name: x}]', 'users[1]" has the name of an earlier one'],
    ['clusters: [{name: c, cluster: {proxy-url: ["http://h"]}}]', 'clusters[0].cluster.proxy-url" is a list'],
    ['clusters: [{name: c, cluster: {proxy-url: true}}]', 'clusters[0].cluster.proxy-url" is true or false'],
    [
      'clusters: [{name: c, cluster: {certificate-authority-data: true}}]',
      'certificate-authority-data" is true or false',
    ],
    ['clusters: [{name: c, cluster: {extensions: foo}}]', 'clusters[0].cluster.extensions" is text'],
    ['current-context: 7', 'current-context" is a number'],
    ['current-context: [x]', 'current-context" is a list'],
  ])('%s', (text, what) => {
    const parse = () => parsed(text, '/c');
    expect(parse).toThrow(expect.objectContaining({ code: 'kubeconfig.invalid' }) as Error);
    expect(parse).toThrow(what);
  });
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
