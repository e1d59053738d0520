import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { renderJunit, renderRolloutJunit } from '../../src/output/machine/junit.ts';
import type { Report } from '../../src/verdict/report.ts';
import { rolloutNumbers } from '../../src/verdict/rollout.ts';
import { hostileReport, recorded, reportNamed } from './helpers/reports.ts';
import type { Node } from './helpers/strict-xml.ts';
import { parseXml } from './helpers/strict-xml.ts';
import { endOf } from './helpers/card-end.ts';

const schema = fileURLToPath(new URL('jenkins-junit.xsd', import.meta.url));
const hasXmllint = spawnSync('xmllint', ['--version']).error === undefined;

const suiteOf = (report: Report): Node => parseXml(renderJunit(report)).children[0]!;
const casesOf = (report: Report): Node[] => suiteOf(report).children.filter(({ name }) => name === 'testcase');
const results = (report: Report) =>
  casesOf(report).map(({ attributes, children }) => [
    attributes['name'],
    children.map(({ name }) => name).find((name) => name !== 'system-out') ?? 'passed',
  ]);

const killed = reportNamed('sigkill-after-grace');
const failedGate = { name: 'max-duration', passed: false, message: 'max-duration 4s: took 6.8s' };
const gated: Report = { ...killed, verdict: { ...killed.verdict, gates: [failedGate] } };

const reports = [killed, reportNamed('graceful-exit')];
const numbers = rolloutNumbers('deployment/web', reports, { unseen: ['web-x'] });
const renderedRollout = renderRolloutJunit(numbers, reports);

describe('JUnit XML', () => {
  it.skipIf(!hasXmllint)('is valid by Jenkins’ schema, for every recording (skipped without xmllint)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
    const texts = [
      ...[...recorded.map(([, report]) => report), hostileReport, gated].map(renderJunit),
      renderedRollout,
    ];
    const files = texts.map((text, index) => join(folder, `${index}.xml`));
    files.forEach((file, index) => writeFileSync(file, texts[index] ?? ''));
    const check = () => execFileSync('xmllint', ['--noout', '--schema', schema, ...files], { stdio: 'pipe' });
    expect(check).not.toThrow();
  });

  it('has a test case "exit" and one for each gate, with the owner in its class name', () => {
    expect(results(gated)).toEqual([
      ['exit', 'failure'],
      ['gate max-duration', 'failure'],
    ]);
    expect(casesOf(gated)[0]?.attributes['classname']).toBe('sigkill-after-grace.deployment.checkout');
  });

  it('has no failure if the exit code is 0', () => {
    const warned = { ...gated, verdict: { ...gated.verdict, exitCode: 0 } };
    for (const report of [reportNamed('graceful-exit'), reportNamed('pending'), warned])
      expect(suiteOf(report).attributes).toMatchObject({ failures: '0', errors: '0' });
  });

  it('has the card in the body of a failure, and its last line in its attributes', () => {
    const [fault] = casesOf(killed)[0]!.children;
    expect(fault?.attributes['message']).toBe(killed.answer.summary);
    expect(fault?.text).toContain('traffic');
    expect(endOf(fault?.text.split('\n') ?? [])).toContain(killed.answer.summary);
  });

  it('has one test case for each of several pods, including one that was not observed', () => {
    const all = parseXml(renderedRollout);
    expect(all.attributes).toMatchObject({ tests: '3', failures: '1', errors: '1' });
    const names = all.children[0]!.children.filter(({ name }) => name === 'testcase').map(
      ({ attributes }) => attributes['name'],
    );
    expect(names).toEqual([...reports.map(({ timeline }) => timeline.pod.metadata.name), 'web-x']);
  });
});
