/** The small kubeconfig reader returns the same as the YAML library, or undefined. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPlainYaml } from '../../src/kube/kubeconfig/load.ts';
import { readYaml } from '../../src/kube/kubeconfig/yaml.ts';

/** As `kubectl config` writes it, with one list at the indentation of its key and one list indented further. */
const written = readFileSync(new URL('written-kubeconfig.txt', import.meta.url), 'utf8');

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

  it('never returns anything else than the library for a damaged kubeconfig', () => {
    const lines = written.split('\n');
    const odd =
      String.raw`- a;  - a;- - b;a;a:;   b: c;no: yes;a: b:;a: 'b;a: - b;? a;<<: a;---;a: &b c;a: *b;a: {b: c};a: |;
a: b # c;a: no;a: 7;a: 0x1;a: 1.5;a: ~;a: =;a: NaN;a: .inf;a: ä;a: "\u0041"`.split(/;\n?/);
    const damage = fc.record({
      at: fc.nat(lines.length - 1),
      take: fc.nat(2),
      put: fc.array(fc.constantFrom(...lines, ...odd), { maxLength: 2 }),
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
      { numRuns: 5000 },
    );
  });
});
