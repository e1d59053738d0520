/** Gates from flags and from a config file, through the command line. Replays make the numbers predictable. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { errorDocument } from '../../src/output/machine/json.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { runMain } from './helpers/in-process.ts';

const before = process.cwd();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  process.chdir(folder);
});
afterEach(() => process.chdir(before));

const write = (text: string, file = '.podexit.yaml'): void => writeFileSync(join(folder, file), text);

async function replay(name: string, ...flags: string[]) {
  const { code, stdout } = await runMain(['replay', recordingFile(name), '-o', 'json', ...flags]);
  const document = JSON.parse(stdout) as ExitReport | ReturnType<typeof errorDocument>;
  if (document.kind === 'Error') return { code, error: document, gates: {} };
  return { code, gates: Object.fromEntries(document.verdict.gates.map(({ name, passed }) => [name, passed])) };
}

describe('flags', () => {
  it('make each gate a named check, and a failed gate turns exit code 0 into 5', async () => {
    expect(
      await replay('graceful-exit', '--max-duration=1m', '--max-grace-used', '80%', '--min-drain-lead=5s'),
    ).toEqual({ code: 5, gates: { 'max-duration': true, 'max-grace-used': true, 'min-drain-lead': false } });
  });

  it('without a failed gate the exit code stays 0', async () => {
    expect(await replay('graceful-exit', '--max-duration', '1m')).toEqual({ code: 0, gates: { 'max-duration': true } });
  });

  it('--fail-on accepts several codes, comma-separated or as separate flags', async () => {
    expect(await replay('graceful-exit', '--fail-on=drain-race,oom-on-exit', '--fail-on', 'last-endpoint')).toEqual({
      code: 5,
      gates: { 'fail-on drain-race': false, 'fail-on oom-on-exit': true, 'fail-on last-endpoint': true },
    });
  });

  it('--warn-only turns 2 into 0 and leaves the gate failed', async () => {
    expect(await replay('sigkill-after-grace', '--max-grace-used=50%', '--warn-only')).toEqual({
      code: 0,
      gates: { 'max-grace-used': false },
    });
  });

  it.each([
    ['--max-duration=ten', 'usage.duration', /--max-duration: "ten" is not a duration/],
    ['--max-grace-used=0.8', 'usage.percentage', /--max-grace-used: "0.8" is not a percentage/],
    ['--max-grace-used=-1%', 'usage.percentage', /is not a percentage/],
    ['--fail-on=drain-rcae', 'usage.finding', /unknown finding "drain-rcae"/],
  ])('%s is refused, with the expected form', async (flag, code, message) => {
    const printed = await replay('graceful-exit', flag);
    expect(printed).toMatchObject({ code: 1, error: { code } });
    expect(printed.error?.message).toMatch(message);
    expect(printed.error?.hint).not.toBe('');
  });
});

describe('a config file', () => {
  it('is found in the working directory', async () => {
    write('# Our budget\nmax-duration: 1s\nfail-on: [drain-race]\n');
    expect(await replay('graceful-exit')).toEqual({
      code: 5,
      gates: { 'max-duration': false, 'fail-on drain-race': false },
    });
  });

  it('is chosen by --config', async () => {
    mkdirSync(join(folder, 'ci'));
    write('max-grace-used: 10%', 'ci/gates.yaml');
    expect(await replay('graceful-exit', '--config', 'ci/gates.yaml')).toEqual({
      code: 5,
      gates: { 'max-grace-used': false },
    });
  });

  it('is overridden by flags, one by one', async () => {
    write('max-duration: 1s\nmax-grace-used: 80\nwarn-only: true\n');
    expect(await replay('sigkill-after-grace', '--max-duration=1h', '--no-warn-only')).toEqual(
      await replay('sigkill-after-grace', '--max-duration=1h', '--warn-only=false'),
    );
    expect(await replay('sigkill-after-grace', '--max-duration=1h', '--no-warn-only')).toEqual({
      code: 2,
      gates: { 'max-duration': true, 'max-grace-used': false },
    });
  });

  it('is not read with --no-config', async () => {
    write('max-duration: 1ms');
    expect(await replay('graceful-exit', '--no-config')).toEqual({ code: 0, gates: {} });
  });

  it.each([
    [[], 'config.unreadable', '--no-config'],
    [['--config', '.podexit.yaml'], 'config.unreadable', '--config'],
    [['--config', 'nowhere.yaml'], 'config.missing', '--config'],
  ])('that is a folder is reported as unreadable, not as missing: %j', async (flags, kind, hint) => {
    mkdirSync(join(folder, '.podexit.yaml'));
    const { code, error } = await replay('graceful-exit', ...flags);
    expect({ code, kind: error?.code }).toEqual({ code: 1, kind });
    expect(error?.hint).toContain(hint);
  });

  it('may be empty', async () => {
    write('# nothing yet\n');
    expect(await replay('graceful-exit')).toEqual({ code: 0, gates: {} });
  });

  it.each([
    [
      'maxDuration: 1s',
      /unknown key "maxDuration"/,
      'There are: max-duration, max-grace-used, min-drain-lead, fail-on, confirm, warn-only',
    ],
    ['constructor: 1s', /unknown key "constructor"/, 'There are: max-duration'],
    ['max-duration: [1s]', /max-duration cannot be \["1s"\]/, 'Write it like max-duration: 30s'],
    ['warn-only: maybe', /warn-only cannot be "maybe"/, 'Write it like warn-only: true'],
    ['- max-duration', /holds no keys/, 'max-duration: 30s'],
    ['max-duration: "1s', /is not valid YAML/, 'max-duration: 30s'],
    ['max-duration: &a [*a]', /is not valid YAML: .*alias/, 'max-duration: 30s'],
    ['max-duration: 1s\nmax-duration: 2s', /is not valid YAML: duplicated mapping key \(2:1\)/, 'max-duration: 30s'],
  ])('with "%s" is refused, and the valid form is shown', async (text, message, hint) => {
    write(text);
    const { code, error } = await replay('graceful-exit');
    expect({ code, kind: error?.code }).toEqual({ code: 1, kind: 'config.invalid' });
    expect(error?.message).toMatch(message);
    expect(error?.message).toContain('.podexit.yaml');
    expect(error?.hint).toContain(hint);
  });

  it('is named in the error about a wrong value', async () => {
    write('max-duration: ten');
    const { error } = await replay('graceful-exit');
    expect(error?.message).toBe('max-duration in .podexit.yaml: "ten" is not a duration');
  });

  it('that --config names must exist', async () => {
    const { code, error } = await replay('graceful-exit', '--config=gone.yaml');
    expect({ code, error: error?.code }).toEqual({ code: 1, error: 'config.missing' });
    expect(error?.message).toContain('gone.yaml');
  });
});
