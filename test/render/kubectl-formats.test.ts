import { describe, expect, it } from 'vitest';
import { load, YAML11_SCHEMA } from 'js-yaml';
import { renderName } from '../../src/render/name.ts';
import { renderWide } from '../../src/render/wide.ts';
import { renderYaml } from '../../src/render/yaml.ts';
import { hostile } from './helpers/hostile.ts';
import { graceful, killed, removed, stuck } from './helpers/sample-reports.ts';
import { samples } from './helpers/samples.ts';
import { unseenIn } from './helpers/unseen.ts';

describe('-o yaml', () => {
  it.each(samples)('is the same document as the report (%s)', (_name, sample) => {
    expect(load(renderYaml(sample()))).toEqual(sample());
  });

  it.each(samples)(
    'means the same to a reader of YAML 1.1, who would take bare times for dates (%s)',
    (_name, sample) => {
      expect(load(renderYaml(sample()), { schema: YAML11_SCHEMA })).toEqual(sample());
    },
  );

  it('reads like kubectl’s', () => {
    expect(renderYaml(graceful())).toMatch(
      /^apiVersion: podexit\/v1\nkind: ExitReport\nmode: delete\npod:\n {2}namespace: shop\n/,
    );
  });

  it('escapes what nobody sees as one character, also beyond 16 bits', () => {
    const report = graceful();
    const named = renderYaml({ ...report, pod: { ...report.pod, name: 'a\u{e0001}b\u202e' } });
    expect(named).toContain('name: "a\\U000e0001b\\u202e"');
    expect(load(named)).toMatchObject({ pod: { name: 'a\u{e0001}b\u202e' } });
  });

  it('holds nothing that acts on a terminal', () => {
    expect(unseenIn(renderYaml(hostile()))).toEqual([]);
  });
});

describe('-o name', () => {
  it('is what kubectl would call the pod', () => {
    expect(renderName(graceful())).toBe('pod/checkout-754699c75f-5qlrp\n');
  });
});

describe('-o wide', () => {
  it('is a header and one row', () => {
    expect(renderWide(killed())).toBe(
      'NAME     NODE    OUTCOME   DURATION   GRACE   USED   TRIGGER        CONTAINERS                                     GATES                   FINDINGS\n' +
        'shop-0   node1   killed    7.40s      6s      ~99%   this-command   worker=signalled,web=completed,legacy=killed   max-grace-used=failed   killed-at-grace,no-signal-handling\n',
    );
  });

  it('leaves the header out on demand', () => {
    expect(renderWide(killed(), { headers: false })).toMatch(/^shop-0 [^\n]*\n$/);
  });

  it('says <none> for what is not known', () => {
    expect(renderWide(removed())).toMatch(
      /waiting +<none> +removed +0.009s +30s +<none> +this-command +app=not-running +<none> +<none>\n$/,
    );
    expect(renderWide(stuck())).toMatch(/stuck +<none> +10s/);
  });

  it('stays two lines with hostile strings', () => {
    const text = renderWide(hostile());
    expect(text.split('\n')).toHaveLength(3);
    expect(unseenIn(text)).toEqual([]);
  });
});
