import { describe, expect, it } from 'vitest';
import { PodexitError } from '../../src/errors.ts';
import { readTemplate, renderJsonPath, renderJsonPathAsJson } from '../../src/output/machine/jsonpath.ts';
import { hostile } from './helpers/hostile.ts';
import { graceful, killed } from './helpers/sample-reports.ts';
import { unseenIn } from './helpers/unseen.ts';

describe('-o jsonpath', () => {
  it.each([
    ['{.verdict.outcome}', 'killed'],
    ['outcome={.verdict.outcome}, exit={.verdict.exitCode}{"\\n"}', 'outcome=killed, exit=2\n'],
    ['{.containers[*].name}', 'worker web legacy'],
    ['{.containers[0].name}', 'worker'],
    ['{.containers[-1].name}', 'legacy'],
    ['{.containers[-2].name}', 'web'],
    ['{.containers[0:2].name}', 'worker web'],
    ['{.containers[0,2].name}', 'worker legacy'],
    ['{.containers[?(@.name=="legacy")].exit.code}', '137'],
    ["{.containers[?(@.exit.code > 0)]['name']}", 'worker legacy'],
    ['{range .containers[*]}{.name}={.exit.code}{"\\n"}{end}', 'worker=143\nweb=0\nlegacy=137\n'],
    ['{range .containers[*]}{@.name}/{$.pod.name} {end}', 'worker/shop-0 web/shop-0 legacy/shop-0 '],
    ['{range .verdict.findings[*]}{range .evidence[*]}{@},{end};{end}', '6,;3,6,;'],
    ["{$['pod']['name']}", 'shop-0'],
    ['{.pod.owner}', '{"kind":"StatefulSet","name":"shop"}'],
    ['{.pod.nothing.here}', ''],
    ['{..signal}', ''],
    ['{.grace.requestedSeconds}', 'null'],
    ['no path at all', 'no path at all'],
    ['{"}"}{\'{\'}', '}{'],
  ])('evaluates %s', (template, expected) => {
    expect(renderJsonPath(killed(), template)).toBe(expected);
  });

  it('prints the whole report for a single dot, $ and @', () => {
    for (const template of ['{.}', '{$}', '{@}']) {
      expect(JSON.parse(renderJsonPath(graceful(), template))).toEqual(graceful());
    }
  });

  it('prints one JSON array with -o jsonpath-as-json', () => {
    expect(renderJsonPathAsJson(killed(), '{.containers[*].name} and {.verdict.exitCode}')).toBe(
      '[\n    "worker",\n    "web",\n    "legacy",\n    2\n]\n',
    );
  });

  it.each([
    ['{.verdict.outcome', '{.verdict.outcome'],
    ['a{range .containers[*]}{.name}', '{range .containers[*]}'],
    ['{.name}{end}', '{end}'],
    ['{}', '{}'],
    ['{verdict}', '{verdict}'],
    ['{.containers[0}', '{.containers[0}'],
    ['{.containers[?(@.name=="x)]}', '{.containers[?(@.name=='],
    ['{.a.}', '{.a.}'],
    ['{"\\q"}', '\\\\q'],
    ['{"open}', '{\\"open}'],
    ['', '""'],
  ])('rejects %s, and names the invalid part', (template, part) => {
    expect(() => readTemplate(template)).toThrow(PodexitError);
    expect(() => readTemplate(template)).toThrow(part);
  });

  it.each([
    ['{.containers[?(@.exit.code==143)].name}', 'worker'],
    ['{.containers[?(@.preStop.outcome=="failed")].name}', ''],
    ['{.containers[?(@.preStop.outcome!="failed")].name}', ''],
    ['{range .containers[?(@.exit.at.earliest.nothing)]}{.name}{end}', ''],
    ['{.grace[?(@.code==1)]}', ''],
  ])('does not match an item without the field of a filter: %s', (template, expected) => {
    const report = killed();
    const containers = report.containers.map(({ exit, ...one }) => (one.name === 'web' ? one : { ...one, exit }));
    expect(renderJsonPath({ ...report, containers }, template)).toBe(expected);
  });

  it.each([
    ['{.marks[?(@.name = )]}', 'Expected expression'],
    ['{.marks[?(@.name==)]}', 'Expected expression'],
    ['{.marks[?(@.name=exited)]}', 'not one comparison'],
    ['{.marks[?(@.name==exited)]}', '"exited" in it is neither a field nor quoted text'],
    ['{.marks[?(@.name "exited")]}', 'not one comparison'],
    ['{.marks[?()]}', 'not one comparison'],
    ['{.marks[?(@.constructor=="x")]}', '"constructor" in it is not a field'],
    ['{.nothing[?(@.here[?(@.name==)])]}', 'Expected expression'],
    ['{range .marks[*]}{.at[?(@.a==b)]}{end}', '"b" in it'],
    ['{.marks[(@.length-1)]}', 'an index is a number'],
    ['{.marks[*].name@other()}', 'no type of this name'],
  ])('rejects a filter that can never be evaluated: %s', (template, why) => {
    expect(() => readTemplate(template)).toThrow(PodexitError);
    expect(() => readTemplate(template)).toThrow(why);
  });

  it.each([
    '{.containers[?(@.name=="web" || @.exit.code > 0)].name}',
    '{.containers[?(@.name.startsWith("we"))].name}',
    "{.containers[?(/^w/.test(@['name']))].name}",
    '{.containers[?(@.exit)].name}',
    '{.containers[?(!@.preStop)].name}',
    "{.containers[?(@.exit.reason=='Error')].exit.code}",
  ])('accepts the filter of %s', (template) => {
    expect(() => readTemplate(template)).not.toThrow();
  });

  it('names a filter that cannot be evaluated', () => {
    expect(() => renderJsonPath(killed(), '{.pod.name}{.containers[?(@.name==)].name}')).toThrow(
      /containers\[\?\(@\.name==\)\]/,
    );
  });

  it('never runs code from a filter', () => {
    const before = Object.keys(globalThis);
    const template =
      '{.containers[?(globalThis.owned = 1)].name}{.containers[?(@.constructor.constructor("globalThis.owned=1")())].name}';
    expect(() => renderJsonPath(killed(), template)).toThrow(PodexitError);
    expect(Object.keys(globalThis)).toEqual(before);
  });

  it('escapes hostile strings without truncating them', () => {
    const text = renderJsonPath(hostile(), '{.marks[*].note}');
    expect(unseenIn(text)).toEqual([]);
    expect(text).toContain('x'.repeat(1_000_000));
  });
});
