import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { outcomeSentence } from '../../src/render/outcome-text.ts';
import { penFor } from '../../src/render/palette.ts';
import { verdictLines } from '../../src/render/verdict-text.ts';
import { zeroOf } from '../../src/render/offsets.ts';
import { outcomes } from '../../src/model/report.ts';
import { recordingNames, reportOfRecording } from '../helpers/recordings.ts';
import { samples } from './helpers/samples.ts';

const pen = penFor({ color: 0, unicode: true });

describe('the verdict in words', () => {
  it('begins with the outcome, in a sentence that fits it', async () => {
    const sentences = await Promise.all(
      recordingNames.map(async (name) => {
        const report = await reportOfRecording(name);
        return `${name} ${report.verdict.outcome}: ${outcomeSentence(report)}`;
      }),
    );
    expect(sentences.join('\n')).toMatchInlineSnapshot(`
      "completed removed: nothing was running, so nothing had to be stopped; the object was removed 0.01 s after the request.
      crashloop removed: nothing was running, so nothing had to be stopped; the object was removed at most 0.43 s after the request.
      evicted graceful: app drained in 1.1 s of 8 s.
      exit-143 graceful: app drained in at most 0.3 s of 10 s.
      finalizer graceful: app drained in 1.1 s of 5 s.
      force-delete forced: the object was removed 0.01 s after the request, while app still ran.
      grace-shortened killed: app did not exit within the grace of 30 s and was killed.
      graceful-exit graceful: app drained in 3.1 s of 10 s.
      kubelet-restart graceful: app ended in 10 s of 20 s, its preStop included.
      multi-container killed: legacy did not exit within the grace of 6 s and was killed; web exited 0 and worker ended by its stop signal (exit 143).
      native-sidecar graceful: app drained in 3 s of 12 s.
      no-grace-spec-default killed: app did not exit within the grace of 30 s and was killed.
      node-down graceful: app drained in 1.9–3.9 s of 10 s.
      owner-deleted graceful: app drained in about 2.2 s of 8 s.
      pending removed: nothing was running, so nothing had to be stopped; the object was removed 0.01 s after the request.
      preempted graceful: app drained in 2 s of 8 s.
      prestop-exceeds-grace overran: the grace of 5 s ran out, but nothing was killed: app ended 1.1 s after it.
      prestop-fails graceful: app ended in 1.1 s of 8 s, its preStop included.
      prestop-sleep graceful: app ended in 6.1 s of 10 s, its preStop included.
      rolling-update graceful: app drained in about 2.3 s of 8 s.
      sigkill-after-grace killed: app did not exit within the grace of 6 s and was killed.
      statefulset graceful: app drained in 2 s of 8 s.
      taint-evicted graceful: app drained in about 1.4 s of 8 s.
      two-services graceful: app drained in 3.1 s of 8 s."
    `);
  });

  it('has a sentence with its grace, its names and no gap for every outcome', async () => {
    const report = await reportOfRecording('multi-container');
    for (const outcome of outcomes) {
      const sentence = outcomeSentence({ ...report, verdict: { ...report.verdict, outcome } });
      expect(sentence).toMatch(/^\S.*\S\.$/);
      expect(sentence).not.toMatch(/undefined|NaN|Infinity| {2}/);
    }
  });

  it('says of a run that was left what it was waiting for, and that the deletion goes on', () => {
    const stuck = samples.find(([name]) => name === 'stuck')![1]();
    expect(outcomeSentence(stuck)).toBe(
      'still terminating when the time to wait ran out; waiting for a sign of the kubelet.',
    );
    const left = { ...stuck, verdict: { ...stuck.verdict, outcome: 'unknown', exitCode: 130 } } as const;
    expect(outcomeSentence(left)).toBe(
      'podexit was told to leave while waiting for a sign of the kubelet; the deletion goes on.',
    );
  });

  it('tells findings gravest first, each with what was seen and one thing to do', async () => {
    const report = await reportOfRecording('multi-container');
    const text = verdictLines(pen, report, { zero: zeroOf(report), width: Infinity });
    const severities = text.flatMap((line) => /^ {2}. (error|warning|info) /.exec(line)?.[1] ?? []);
    expect(severities).toEqual(['error', 'error', 'warning', 'warning', 'warning', 'info']);
    for (const { code, advice, evidence } of report.verdict.findings) {
      const start = text.findIndex((line) => line.includes(` ${code}: `));
      const block = text.slice(start, start + 3).join('\n');
      if (evidence.length > 0) expect(block).toMatch(/seen at [+−]\d+\.\d{3} /);
      if (advice !== undefined) expect(block).toContain(`→ ${advice}`);
    }
  });

  it('a check has no deletion that times could count from', async () => {
    const report = { ...(await reportOfRecording('multi-container')), mode: 'check' } as const;
    const text = verdictLines(pen, report, { zero: zeroOf(report), width: Infinity }).join('\n');
    expect(text).toMatch(/^ {4}seen in [a-zA-Z]/m);
    expect(text).not.toMatch(/seen (at|in) [+−]/);
  });

  it('says what each container spent its grace on', async () => {
    const report = await reportOfRecording('native-sidecar');
    const text = verdictLines(pen, report, { zero: zeroOf(report), width: 100 }).join('\n');
    expect(text).toMatch(/^ {4}app {4}drain 3 s, exited 0$/m);
    expect(text).toMatch(/^ {4}proxy {2}sidecar, waited 4\.1–5\.5 s for its turn, drain at most 1\.4 s, exited 0$/m);
  });

  it('says who deleted it where it was not this command, and names gates', async () => {
    const report = await reportOfRecording('evicted');
    const gates = [{ name: 'max-duration', passed: false, message: '2.3 s is 0.3 s more than 2 s' }];
    const text = verdictLines(
      pen,
      { ...report, verdict: { ...report.verdict, gates } },
      { zero: zeroOf(report), width: 100 },
    ).join('\n');
    expect(text).toMatch(/deleted by {2}the Eviction API/);
    expect(text).toContain('✖ gate failed max-duration: 2.3 s is 0.3 s more than 2 s');
  });

  it('is wrapped to any width from 20 columns on', async () => {
    for (const name of recordingNames) {
      const report = await reportOfRecording(name);
      for (const width of [20, 33, 64, 100])
        for (const line of verdictLines(pen, report, { zero: zeroOf(report), width }))
          expect(stringWidth(line), line).toBeLessThanOrEqual(width);
    }
  });
});

it('cites of a list of Events the last one about what a finding names', async () => {
  const report = await reportOfRecording('graceful-exit');
  const killing = 'Event Killing about app';
  const observations = report.observations.map((one) =>
    one.what === killing ? { ...one, what: `Event Started about app; also ${killing}` } : one,
  );
  const lines = verdictLines(pen, { ...report, observations }, { zero: zeroOf(report), width: Infinity });
  expect(lines).toEqual(verdictLines(pen, report, { zero: zeroOf(report), width: Infinity }));
  expect(lines.filter((line) => line.includes(killing))).not.toEqual([]);
});
