/** --record and --report: files, pipes, existing files, and two flags for the same file. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  mkdtempSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRecorder } from '../../src/recording/recorder.ts';
import type { Observation } from '../../src/model/observation.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { bin, started } from '../helpers/built.ts';
import { runMain } from './helpers/in-process.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { serving } from '../helpers/serving.ts';

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'podexit-'));

function pipeIn(folder: string, name: string): string {
  const pipe = join(folder, name);
  execFileSync('mkfifo', [pipe]);
  return pipe;
}

/** Runs a line in a shell, where $podexit is the command. Returns its output and its exit code. */
async function shell(script: string): Promise<{ code: number; stdout: string }> {
  const child = spawn('bash', ['-c', script], {
    env: { ...process.env, KUBECONFIG: '', podexit: `${process.execPath} ${bin}` },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, stdout };
}

describe.skipIf(process.platform === 'win32').concurrent('a pipe (skipped on Windows)', () => {
  it('without a reader loses its report, with exit code 1; other reports are written', async () => {
    const folder = newFolder();
    const pipe = pipeIn(folder, 'pipe.json');
    const good = join(folder, 'good.md');
    const ran = await runMain(['replay', recordingFile('exit-143'), '--report', pipe, '--report', good]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toBe(`podexit: the report ${pipe} could not be written (ENXIO: no process reads it)\n`);
    expect(ran.stdout).toContain('✔ Graceful');
    expect(existsSync(good)).toBe(true);
  });

  it('without a reader is refused for a recording before anything is deleted', () =>
    serving('exit-143', {}, async ({ server, flags, folder }) => {
      const ran = await runMain([server.pod, ...flags, '--record', pipeIn(folder, 'pipe')]);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/cannot write the recording .*pipe \(ENXIO: no process reads it\)/);
      expect(server.deletesAccepted).toBe(0);
    }));

  it('with a slow reader gets the whole report, although it is nearly full at first', async () => {
    const folder = newFolder();
    const [pipe, whole] = [pipeIn(folder, 'pipe.html'), join(folder, 'whole')];
    const replay = `$podexit replay ${recordingFile('rolling-update')} -o html --report ${pipe}`;
    // Most of the 64 KiB of the pipe are used already.
    const filled = `exec 3>${pipe}; head -c 40000 /dev/zero >&3`;
    const { code, stdout } = await shell(
      `(sleep 1; cat >${whole}) <${pipe} & ${filled}; ${replay}; code=$?; exec 3>&-; wait; exit $code`,
    );
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(65_536 - 40_000);
    expect(readFileSync(whole, 'utf8').slice(40_000)).toBe(stdout);
  });

  it('with a stuck reader loses the recording, not the trace', () => {
    const pipe = pipeIn(newFolder(), 'pipe');
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const header = { podexit: 1, program: 'test', recorded: '2026-01-01T00:00:00Z', logText: false };
    const recorder = openRecorder(pipe, header);
    const pod = { metadata: { name: 'web', annotations: { big: 'x'.repeat(100_000) } } };
    const shown = { seq: 1, at: 1, kind: 'changed', stream: 'pod', change: 'ADDED', object: pod };
    recorder.write([shown as unknown as Observation]);
    expect(recorder.failure?.message).toBe('its reader has taken nothing for 2 s');
    recorder.close();
    closeSync(reader);
  });

  it('gets the recording as a process substitution', () =>
    serving('exit-143', {}, async ({ server, flags, folder }) => {
      const words = [server.pod, ...flags].join(' ');
      await shell(`$podexit ${words} -o json --record >(cat >${folder}/run) >${folder}/out; sleep 0.3`);
      const replayed = await runMain(['replay', join(folder, 'run'), '-o', 'json']);
      expect(replayed.stdout).toBe(readFileSync(join(folder, 'out'), 'utf8'));
    }));

  it('gets the recording as /dev/stdout, and reports through links to /dev/stdout and /dev/fd/3', () =>
    serving('exit-143', {}, async ({ server, flags, folder }) => {
      const links = { out: join(folder, 'out.json'), third: join(folder, 'third.yaml') };
      symlinkSync('/dev/stdout', links.out);
      symlinkSync('/dev/fd/3', links.third);
      const reports = `--report ${links.out} --report ${links.third}`;
      const { code, stdout } = await shell(
        `{ $podexit ${server.pod} ${flags.join(' ')} -o name --record /dev/stdout ${reports} 3>&4 | cat; } 4> >(cat >${folder}/third); sleep 0.3`,
      );
      expect(code).toBe(0);
      expect(stdout).toMatch(/^\{"podexit":1,/);
      expect(stdout).toContain('"kind":"requested"');
      expect(stdout).toContain('"kind": "ExitReport"');
      expect(readFileSync(join(folder, 'third'), 'utf8')).toMatch(/^apiVersion: podexit/);
    }));
});

it.concurrent('a recording can be replayed up to the moment of a kill -9', () =>
  serving('prestop-sleep', {}, async ({ server, flags, folder }) => {
    const file = join(folder, 'run');
    const { child, printed, ended, until } = started([server.pod, ...flags, '-o', 'ndjson', '--record', file]);
    await until(() => printed.stdout.includes('accepted'));
    child.kill('SIGKILL');
    await ended;
    const { stdout } = await runMain(['replay', file, '-o', 'json']);
    expect((JSON.parse(stdout) as ExitReport).marks.map(({ name }) => name)).toContain('accepted');
  }),
);

describe.concurrent('one file for two outputs is refused, and nothing is deleted', () => {
  it.each([
    ['another path, without a file yet', (file: string) => `${file.replace(/[^/]+$/, '')}/./run.ndjson`, 'not there'],
    ['a link to a missing file', linked(symlinkSync), 'not there'],
    ['a hard link', linked(linkSync), 'there'],
  ])('--record and --report: %s', (_what, other, isThere) =>
    serving('exit-143', {}, async ({ server, flags, folder }) => {
      const file = join(folder, 'run.ndjson');
      if (isThere === 'there') writeFileSync(file, 'an earlier recording\n');
      const ran = await runMain([server.pod, ...flags, '--record', file, '--report', other(file)]);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/^error: --record .*run\.ndjson and --report .* are the same file/);
      expect(server.deletesAccepted).toBe(0);
      expect(existsSync(file)).toBe(isThere === 'there');
    }),
  );
});

function linked(link: (target: string, path: string) => void): (file: string) => string {
  return (file) => {
    const other = `${file}.link.ndjson`;
    link(file, other);
    return other;
  };
}
