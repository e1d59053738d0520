import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PodexitError } from '../../src/errors.ts';
import {
  readTemplate,
  renderColumns,
  renderJsonPath,
  renderJsonPathAsJson,
} from '../../src/output/machine/jsonpath.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { recordingFile, reportOfRecording } from '../helpers/recordings.ts';
import { hostileText } from './helpers/reports.ts';
import { unseenIn } from './helpers/unseen.ts';

const killed = await reportOfRecording('multi-container');

const cases = parse(readFileSync(new URL('jsonpath.yaml', import.meta.url), 'utf8')) as Record<
  string,
  Record<string, string>
>;
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

  it.each([
    ...group('names the part of a template that cannot be read'),
    ...group('says why a filter can never be evaluated'),
  ])('rejects %s, and says: %s', (template, words) => {
    expect(() => readTemplate(template)).toThrow(PodexitError);
    expect(() => readTemplate(template)).toThrow(words);
  });

  it.each(group('without the exit of web'))(
    'does not match an item without the field of a filter: %s',
    (template, expected) => {
      const containers = killed.containers.map(({ exit, ...one }) => (one.name === 'web' ? one : { ...one, exit }));
      expect(renderJsonPath({ ...killed, containers }, template)).toBe(expected);
    },
  );

  it('never runs code from a filter', () => {
    const before = Object.keys(globalThis);
    const template =
      '{.containers[?(globalThis.owned = 1)].name}{.containers[?(@.constructor.constructor("globalThis.owned=1")())].name}';
    expect(() => renderJsonPath(killed, template)).toThrow(PodexitError);
    expect(Object.keys(globalThis)).toEqual(before);
  });

  it('escapes hostile strings without truncating them', () => {
    const text = renderJsonPath({ note: hostileText + 'x'.repeat(1_000_000) }, '{.note}');
    expect(unseenIn(text)).toEqual([]);
    expect(text).toContain('x'.repeat(1_000_000));
  });
});

describe('-o custom-columns', () => {
  it('has a header, and escaped values in columns', () => {
    const columns = 'OUTCOME:.verdict.outcome,CONTAINERS:{.containers[*].name},NOTHING:pod.nothing';
    expect(renderColumns([killed], columns)).toBe(
      'OUTCOME   CONTAINERS          NOTHING\nkilled    web,worker,legacy   <none>\n',
    );
    expect(unseenIn(renderColumns([{ name: hostileText }], 'NAME:.name'))).toEqual([]);
  });

  it('has a row for each pod of a rollout', async () => {
    const columns = 'custom-columns=POD:.pod.name,CODE:verdict.exitCode';
    const { stdout, code } = await runMain(['replay', recordingFile('statefulset-rollout'), '-o', columns]);
    expect(stdout.split('\n')).toEqual(['POD    CODE', 'db-2   0', 'db-1   0', 'db-0   0', '']);
    expect(code).toBe(0);
  });
});
