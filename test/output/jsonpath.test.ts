import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PodexitError } from '../../src/errors.ts';
import { readTemplate, renderJsonPath, renderJsonPathAsJson } from '../../src/output/machine/jsonpath.ts';
import { hostile } from './helpers/hostile.ts';
import { reportOfRecording } from '../helpers/recordings.ts';
import { unseenIn } from './helpers/unseen.ts';

const killed = await reportOfRecording('multi-container');

const cases = parse(readFileSync(new URL('jsonpath.yaml', import.meta.url), 'utf8')) as {
  [Group in Exclude<string, 'accepts'>]: Record<string, string>;
} & { accepts: string[] };
const group = (name: string): [string, string][] => Object.entries(cases[name] ?? {});

describe('-o jsonpath', () => {
  it.each(group('prints'))('evaluates %s', (template, expected) => {
    expect(renderJsonPath(killed, template)).toBe(expected);
  });

  it('prints the whole report for a single dot, $ and @', () => {
    for (const template of ['{.}', '{$}', '{@}']) {
      expect(JSON.parse(renderJsonPath(killed, template))).toEqual(killed);
    }
  });

  it('prints one JSON array with -o jsonpath-as-json', () => {
    expect(renderJsonPathAsJson(killed, '{.containers[*].name} and {.verdict.exitCode}')).toBe(
      '[\n    "web",\n    "worker",\n    "legacy",\n    2\n]\n',
    );
  });

  it.each(group('names the part of a template that cannot be read'))(
    'rejects %s, and names the invalid part',
    (template, part) => {
      expect(() => readTemplate(template)).toThrow(PodexitError);
      expect(() => readTemplate(template)).toThrow(part);
    },
  );

  it.each(group('without the exit of web'))(
    'does not match an item without the field of a filter: %s',
    (template, expected) => {
      const containers = killed.containers.map(({ exit, ...one }) => (one.name === 'web' ? one : { ...one, exit }));
      expect(renderJsonPath({ ...killed, containers }, template)).toBe(expected);
    },
  );

  it.each(group('says why a filter can never be evaluated'))(
    'rejects a filter that can never be evaluated: %s',
    (template, why) => {
      expect(() => readTemplate(template)).toThrow(PodexitError);
      expect(() => readTemplate(template)).toThrow(why);
    },
  );

  it.each(cases.accepts)('accepts the filter of %s', (template) => {
    expect(() => readTemplate(template)).not.toThrow();
  });

  it('names a filter that cannot be evaluated', () => {
    expect(() => renderJsonPath(killed, '{.pod.name}{.containers[?(@.name==)].name}')).toThrow(
      /containers\[\?\(@\.name==\)\]/,
    );
  });

  it('never runs code from a filter', () => {
    const before = Object.keys(globalThis);
    const template =
      '{.containers[?(globalThis.owned = 1)].name}{.containers[?(@.constructor.constructor("globalThis.owned=1")())].name}';
    expect(() => renderJsonPath(killed, template)).toThrow(PodexitError);
    expect(Object.keys(globalThis)).toEqual(before);
  });

  it('escapes hostile strings without truncating them', () => {
    const text = renderJsonPath(hostile(), '{.marks[*].note}');
    expect(unseenIn(text)).toEqual([]);
    expect(text).toContain('x'.repeat(1_000_000));
  });
});
