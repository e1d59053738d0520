/** What the card and `fix` of a recorded exit say, where plausible advice would be wrong. Lines are joined. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { casesIn, pattern } from '../helpers/case-file.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { parseScenario } from '../../src/demo/scenarios.ts';
import { allNames, recordingFile, scenarioFile } from '../helpers/recordings.ts';
import { servingScenario } from '../helpers/serving.ts';

const scratch = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const scratchFile = (name: string, text: string): string => {
  writeFileSync(join(scratch, name), text);
  return join(scratch, name);
};

const fileOf = (name: string): string =>
  allNames.includes(name) ? recordingFile(name) : fileURLToPath(new URL(`./exits/${name}.ndjson`, import.meta.url));

/** The card without its timeline. */
async function cardOf(file: string): Promise<string> {
  const { stdout } = await runMain(['replay', file]);
  return stdout.replace(/^[^]*?\n(?=[✔✖▲?])/, '').replace(/\s+/g, ' ');
}

interface Case {
  recording: string;
  says: string;
  never: string;
}

it.each(casesIn<Case>(new URL('exits.yaml', import.meta.url), ['recording', 'says', 'never']))(
  '%s',
  async (_, { recording, says, never }) => {
    const card = await cardOf(fileOf(recording));
    expect(card).toMatch(pattern(says));
    expect(card).not.toMatch(pattern(never));
  },
);

it('a start script that was PID 1 is named, as a longer grace period would not help', async () => {
  const text = readFileSync(recordingFile('no-grace-spec-default'), 'utf8')
    .replaceAll('"startedAt":"2026-11-20T23:03:34Z"', '"startedAt":"2026-11-20T23:05:19Z"')
    .replaceAll('"ready":true', '"ready":false');
  const card = await cardOf(scratchFile('starting.ndjson', text));
  expect(card).toMatch(/SIGTERM came within 10s of the start of app, perhaps while its start script was PID 1/);
  expect(card).not.toMatch(/grace period \d+s \(/);
});

it('a shell that ends at once and cuts its application off gets its hook from the card and from fix alike', async () => {
  const waiting = (file: string): string =>
    readFileSync(file, 'utf8')
      .replaceAll('httpd -p 8080 -h /www;', 'httpd -f -p 8080 -h /www &')
      .replaceAll('while :; do sleep 0.2; done', 'wait');
  const hook = /preStop sleep 10s and grace period \d+s \([^)]*\)/;
  const card = await cardOf(scratchFile('waiting.ndjson', waiting(recordingFile('graceful-exit'))));
  const scenario = parseScenario(waiting(scenarioFile('graceful-exit')));
  const { stdout, stderr } = await servingScenario(scenario, {}, ({ server, flags }) =>
    runMain(['fix', server.pod, ...flags]),
  );
  expect(stderr).toMatch(
    /by hand: .* app ends at once on SIGTERM, and its application is cut off .*\(shell-as-pid-1\)/,
  );
  expect(stderr).toContain(hook.exec(card)?.[0] ?? 'the hook that the card has not');
  expect(stdout).toContain('preStop:');
});

describe('fix of a recording', () => {
  it.each(['graceful-exit', 'rollout-25'])('of %s is the fix of its report', async (name) => {
    const report = scratchFile(`${name}.json`, (await runMain(['replay', recordingFile(name), '-o', 'json'])).stdout);
    const ofReport = await runMain(['fix', report]);
    expect(ofReport.stdout).toMatch(/^# preStop sleep 10s/);
    expect(await runMain(['fix', recordingFile(name)])).toEqual(ofReport);
  });
});
