/** The small kubeconfig reader returns the same as the YAML library, or undefined. */
import fc from 'fast-check';
import { dump } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { readPlainYaml } from '../../src/kube/kubeconfig/plain-yaml.ts';
import { readYaml } from '../../src/kube/kubeconfig/yaml.ts';

/** As `kubectl config` writes it, with one list at the indentation of its key and one list indented further. */
const written = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: LS0tLS1CRUdJTg==
    extensions:
      - extension:
          provider: minikube.sigs.k8s.io
        name: cluster_info
    server: https://127.0.0.1:6443
  name: kind-shop
contexts:
- context:
    cluster: kind-shop
    user: kind-shop
  name: kind-shop
current-context: "kind-shop"
kind: Config
preferences: {}
users:
- name: kind-shop
  user:
    exec:
      args:
      - token
      - '--cluster'
      command: /usr/bin/plugin
      env: null
      provideClusterInfo: false
`;

/** What the library reads; undefined if it refuses the text. */
function byLibrary(text: string): unknown {
  try {
    return { document: readYaml(text, '/config') };
  } catch {
    return undefined;
  }
}

function expectTheSame(text: string): void {
  const plain = readPlainYaml(text);
  if (plain !== undefined) expect(byLibrary(text)).toEqual({ document: plain });
}

describe('the small YAML reader', () => {
  it('reads a kubeconfig in the form that tools write', () => {
    const text = written.replace('env: null', 'env:');
    expect(readPlainYaml(text)).toEqual(readYaml(text, '/config'));
    expect(readPlainYaml(text)).toMatchObject({ 'current-context': 'kind-shop', users: [{ name: 'kind-shop' }] });
  });

  it.each([
    ['an anchor', 'a: &b c'],
    ['an alias', 'a: *b'],
    ['a comment', 'a: b # c'],
    ['a merge key', '<<: a'],
    ['a flow mapping', 'a: {b: c}'],
    ['a block text', 'a: |\n  b'],
    ['a second document', 'a: b\n---\nc: d'],
    ['a number', 'a: 7'],
    ['a word that is not text', 'a: no'],
    ['an escape', String.raw`a: "\u0041"`],
    ['a value on two lines', 'a: b\n  c'],
    ['a duplicate key', 'a: b\na: c'],
    ['a tab', 'a:\tb'],
    ['letters beyond ASCII', 'a: ä'],
    ['a list in a list', 'a:\n- - b'],
    ['a line without a key', 'a: b\nc'],
    ['lists and keys mixed', 'a: b\n- c'],
    ['nothing', ''],
  ])('leaves %s to the library', (_, text) => {
    expect(readPlainYaml(text)).toBeUndefined();
  });

  it('never returns anything else than the library', () => {
    const word = fc.constantFrom(
      'a',
      'name',
      'user',
      'v1',
      'https://h:6443',
      'y',
      'No',
      '0x1',
      '1.5',
      'b c',
      '',
      '~',
      'a:',
      '-',
      '=',
      'e1',
      'NaN',
      '.inf',
    );
    const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        word,
        fc.boolean(),
        fc.constant(null),
        fc.integer(),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(word, tie('node'), { maxKeys: 4 }),
      ),
    })).node;
    fc.assert(
      fc.property(value, fc.boolean(), (one, isFlat) => expectTheSame(dump(one, { seqNoIndent: isFlat }))),
      { numRuns: 2000 },
    );
  });

  it('never returns anything else than the library for a damaged kubeconfig', () => {
    const lines = written.split('\n');
    const damage = fc.record({
      at: fc.nat(lines.length - 1),
      take: fc.nat(2),
      put: fc.array(
        fc.constantFrom(...lines, '- a', '  - a', 'a:', '   b: c', 'no: yes', 'a: b:', "a: 'b", '? a', 'a: - b'),
        {
          maxLength: 2,
        },
      ),
      indent: fc.nat(5),
    });
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 3 }), (damages) => {
        const damaged = damages.reduce(
          (all, { at, take, put, indent }) => all.toSpliced(at, take, ...put.map((line) => ' '.repeat(indent) + line)),
          lines,
        );
        expectTheSame(damaged.join('\n'));
      }),
      { numRuns: 3000 },
    );
  });
});
