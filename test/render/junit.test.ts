import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { renderJunit } from '../../src/render/junit.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { hostile } from './helpers/hostile.ts';
import { forced, graceful, killed, removed, stuck, unknown } from './helpers/sample-reports.ts';
import { reports } from './helpers/reports.ts';
import type { Node } from './helpers/strict-xml.ts';
import { parseXml } from './helpers/strict-xml.ts';
import { unseenIn } from './helpers/unseen.ts';
import { xsdFaults } from './helpers/xsd.ts';

const xsd = new URL('jenkins-junit.xsd', import.meta.url);
const schema = parseXml(readFileSync(xsd, 'utf8'));
const xmllint = spawnSync('xmllint', ['--version']).error === undefined;

const suiteOf = (report: ExitReport): Node => parseXml(renderJunit(report)).children[0]!;
const casesOf = (report: ExitReport): Node[] => suiteOf(report).children.filter(({ name }) => name === 'testcase');
const results = (report: ExitReport) =>
  casesOf(report).map(({ attributes, children }) => [
    attributes['name'],
    children.map(({ name }) => name).find((name) => name !== 'system-out') ?? 'passed',
  ]);

describe('JUnit XML', () => {
  it.each(reports)('is valid by Jenkins’ schema (%s)', (_name, sample) => {
    expect(xsdFaults(schema, parseXml(renderJunit(sample())))).toEqual([]);
  });

  it.skipIf(!xmllint).each(reports)('is valid by xmllint too (%s; skipped without it)', (_name, sample) => {
    const check = () =>
      execFileSync('xmllint', ['--noout', '--schema', fileURLToPath(xsd), '-'], { input: renderJunit(sample()) });
    expect(check).not.toThrow();
  });

  it('has a case for the exit, for each container and for each gate', () => {
    expect(results(killed())).toEqual([
      ['exit', 'failure'],
      ['container worker', 'passed'],
      ['container web', 'passed'],
      ['container legacy', 'failure'],
      ['gate max-grace-used', 'failure'],
    ]);
    expect(suiteOf(killed()).attributes).toMatchObject({ tests: '5', failures: '3', errors: '0', skipped: '0' });
  });

  it('has nothing red where the exit code is 0', () => {
    const warned = { ...killed(), verdict: { ...killed().verdict, exitCode: 0 } };
    for (const report of [graceful(), removed(), warned]) {
      expect(results(report).map(([, result]) => result)).not.toContain('failure');
      expect(suiteOf(report).attributes).toMatchObject({ failures: '0', errors: '0' });
    }
  });

  it('names no deadline and no trigger of what is only forecast', () => {
    const propertiesOf = (report: ExitReport) =>
      suiteOf(report).children[0]!.children.map(({ attributes }) => attributes['name']);
    expect(propertiesOf(graceful())).toEqual(expect.arrayContaining(['outcome', 'trigger', 'deadline']));
    const forecast = propertiesOf({ ...graceful(), mode: 'check' });
    expect(forecast).toContain('forecast');
    for (const name of ['outcome', 'trigger', 'deadline']) expect(forecast).not.toContain(name);
  });

  it('calls it an error, not a failure, where the end was not seen', () => {
    expect(results(stuck())[0]).toEqual(['exit', 'error']);
    expect(results(unknown())[0]).toEqual(['exit', 'error']);
    expect(results(forced())[1]).toEqual(['container app', 'failure']);
    expect(results(removed())[1]).toEqual(['container app', 'skipped']);
  });

  it('has the verdict in the body of a failure as well as in its attributes', () => {
    const failure = casesOf(killed())[3]!.children[0]!;
    expect(failure.attributes).toEqual({
      message: 'container legacy: killed with exit code 137 (Error)',
      type: 'killed',
    });
    expect(failure.text).toContain('killed (exit code 2): legacy did not exit within the grace of 6 s');
    expect(failure.text).toContain('error killed-at-grace: legacy was killed when its 6s of grace had run out.');
  });

  it('says everything once: in the body of a failure, or else on standard output', () => {
    const said = casesOf(killed()).map(({ children }) => children.map(({ name }) => name));
    expect(said).toEqual([['failure'], ['system-out'], ['system-out'], ['failure'], ['failure']]);
    const [exit] = casesOf(graceful());
    expect(exit!.children[0]!.text).toContain('graceful (exit code 0): app drained in');
    expect(casesOf(removed())[1]!.children.map(({ name, text }) => [name, text])).toEqual([
      ['skipped', ''],
      ['system-out', 'container app: not-running'],
    ]);
  });

  it('tells times in seconds, from the first thing done to a container to its end', () => {
    expect(casesOf(killed()).map(({ attributes }) => attributes['time'])).toEqual([
      '7.405',
      '0.125',
      '3.090',
      '5.950',
      '0.000',
    ]);
  });

  it('gives hostile strings back as text, made visible', () => {
    const names = casesOf(hostile()).map(({ attributes }) => attributes['name']!);
    expect(names.join()).toContain(`</script><script>document.title="owned"</script>`);
    expect(names.join()).toContain(']]> &<>"\'`');
    expect(unseenIn(renderJunit(hostile()))).toEqual([]);
    expect(renderJunit(hostile()).length).toBeLessThan(100_000);
  });
});
