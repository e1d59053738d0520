import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { createLines, renderText } from '../../src/render/lines.ts';
import type { LinesOptions } from '../../src/render/lines.ts';
import { forTerminal } from '../../src/render/safe-text.ts';
import { observe } from '../../src/model/observe.ts';
import type { Sighting } from '../../src/model/observation.ts';
import { reduce } from '../../src/model/reduce.ts';
import { emptyTrace } from '../../src/model/empty-trace.ts';
import { adding, attached, comingAt, markedIn } from '../helpers/cases.ts';
import {
  mustReport,
  observationsOf,
  recordingNames,
  reportOfRecording,
  sightingsOf,
  traceOf,
} from '../helpers/recordings.ts';
import { hostile } from './helpers/hostile.ts';
import { reports } from './helpers/reports.ts';
import { unseenIn } from './helpers/unseen.ts';

const plain = { color: 0, unicode: true } as const;

async function linesOf(
  name: string,
  options: Partial<LinesOptions> = {},
  alter: (sightings: Sighting[]) => Sighting[] = (sightings) => sightings,
): Promise<string> {
  let text = '';
  const lines = createLines({
    write: (more) => void (text += more),
    style: plain,
    timestamps: 'utc',
    logs: false,
    ...options,
  });
  let trace = emptyTrace;
  let seq = 0;
  for (const sighting of alter(await sightingsOf(name))) {
    const observation = observe(sighting, (seq += 1), { logText: true });
    trace = reduce(trace, observation);
    lines.step(trace, observation);
  }
  lines.end(trace, mustReport(trace));
  return text;
}

const markedAt = (sightings: readonly Sighting[]): number => markedIn(sightings).at;

const markLines = (text: string): string[] => text.split('\n').filter((line) => /^ +(\d\d:|~?[+−]\d)/.test(line));

describe('lines', () => {
  it('say where the offsets count from, where a late attach has learnt better since', async () => {
    const late = (sightings: Sighting[]) => comingAt(markedAt(sightings) + 1500, attached(sightings));
    const [known] = (await linesOf('graceful-exit', {}, late)).match(/^ *offsets above count from .*/m) ?? [];
    expect(known).toMatch(/^ {2}offsets above count from 23:04:31\.\d{3} UTC, .* reports from 23:04:\d\d\.\d{3} UTC/);
    expect(await linesOf('graceful-exit')).not.toContain('offsets above');
  });

  it('look as the design has them', async () => {
    expect(await linesOf('graceful-exit')).toMatchInlineSnapshot(`
      "podexit  checkout-754699c75f-5qlrp   namespace graceful-exit · node node1 · grace 10s (spec) · 2026-11-20 UTC
        app     no preStop · readiness tcp :8080
        owner   ReplicaSet/checkout-754699c75f
        routes  checkout (2 endpoints ready)

        23:04:29.612    +0.000  request      DELETE, uid precondition
        23:04:29.619    +0.007  api          accepted, deadline 23:04:39
        23:04:29.626    +0.014  app          kubelet begins to stop it
        23:04:29.626    +0.014  kubelet      knows of the deletion
        23:04:29.630    +0.018  endpoints    checkout-h79lm: unrouted, still serving; 1 other ready
        23:04:29.634    +0.022  replacement  checkout-754699c75f-rqfbr created
        23:04:29.638    +0.026  replacement  checkout-754699c75f-rqfbr scheduled
        23:04:29.7     ~+0.1    app          stop signal sent (no preStop)
        23:04:30.090    +0.478  replacement  checkout-754699c75f-rqfbr started
        23:04:30.104    +0.492  replacement  checkout-754699c75f-rqfbr ready
        23:04:32.7     ~+3.1    app          exited 0
        23:04:32.831    +3.219  kubelet      reports that all containers have ended
        23:04:32.837    +3.225  endpoints    checkout-h79lm: endpoint removed
        23:04:33.718    +4.106  kubelet      clean-up done, sends the final DELETE
        23:04:33.721    +4.109  api          object removed

        phase                                     lasted  of grace 10s
        accept                                    0.004s
        notice                                    0.01s
        route-removal  checkout-h79lm             0.01s
        drain          app                        ~3.1s   ███████▒░░░░░░░░░░░░░░░░ ~31%
        cleanup                                   0–1.2s
        replace        checkout-754699c75f-rqfbr  0–0.5s

        ✔ graceful: app drained in 3.1 s of 10 s.

          app  drain 3.1 s, exited 0

        • info drain-race: the kubelet asked app to stop at most 0.01 s after (perhaps before) Service checkout took it out of its ready endpoints; proxies and load balancers learn of that later still, so clients may have been sent to it meanwhile.
          seen at +0.007 answer 200 to the DELETE; +0.014 Event Killing about app; +0.018 slice checkout-h79lm: ready false, serving true; 1 other ready; 1 more
          → A preStop sleep of 5 s keeps the application serving while clients are told; raise terminationGracePeriodSeconds by as much.

        assumes at most: clock-drift 0.001s, delivery-lag 2.5s, event-lag 1s, log-stamp-lag 0.1s, signal-lag 0.9s
      "
    `);
  });

  it.each([
    ['was under way: the heading waits until it is known', 1500, 1520, true],
    ['was under way: not for ever', 1500, 2800, false],
    ['was seen long before its run began', -1500, 20, true],
  ])('say who routes to a pod whose deletion %s', async (_, seen, listed, isTold) => {
    const late = (all: Sighting[]): Sighting[] => {
      const marked = markedAt(all);
      const slices = all.filter((one) => one.kind === 'listed' && ['services', 'endpointslices'].includes(one.stream));
      const rest = comingAt(marked + seen, attached(all)).filter((one) => !slices.includes(one));
      const began = rest.map((one) => (one.kind === 'began' ? { ...one, at: Math.max(one.at, marked) } : one));
      return adding(began, ...slices.map((one) => ({ ...one, at: marked + listed })));
    };
    const [heading = ''] = (await linesOf('graceful-exit', {}, late)).split('\n\n');
    expect(heading.includes('routes  checkout')).toBe(isTold);
  });

  it('name an end told too early, and what became of it', async () => {
    const restart = markLines(await linesOf('kubelet-restart'));
    expect(restart.filter((line) => line.includes('its log ended: probably exited'))).toHaveLength(1);
    expect(restart.filter((line) => line.includes('withdrawn: the end of its log was not its exit'))).toHaveLength(1);
    expect(restart.filter((line) => line.endsWith(' exited 0'))).toHaveLength(1);
    const several = markLines(await linesOf('multi-container'));
    expect(several.filter((line) => /worker +confirmed: exited 143/.test(line))).toHaveLength(1);
  });

  it('of what was seen are the same in a report of the same run', async () => {
    // How long a hook sleeps is not in the report.
    const seen = (text: string) =>
      markLines(text.replace(/ sleep \d+s /g, ' sleep ')).filter((line) => /^ +\+/.test(line));
    for (const name of recordingNames) {
      const live = new Set(seen(await linesOf(name, { timestamps: 'relative' })));
      const told = seen(renderText(await reportOfRecording(name), { timestamps: 'relative' }));
      expect(told.length, name).toBeGreaterThan(2);
      for (const line of told) expect(live, `${name}: ${line}`).toContain(line);
    }
  });

  it('are cited at the times they stand at', async () => {
    const text = await linesOf('graceful-exit');
    expect(text).toMatch(/ \+0\.018 {2}endpoints +checkout-h79lm: unrouted/);
    expect(text).toMatch(/seen at .*\+0\.018 slice checkout-h79lm: ready false/);
    expect(text).toMatch(/ \+0\.007 {2}api +accepted/);
    expect(text).toMatch(/seen at \+0\.007 answer 200 to the DELETE/);
  });

  it('say once why the kill is put off where the kubelet begins again', async () => {
    const again = (text: string) => text.split('\n').filter((line) => line.includes('begins to stop it again'));
    expect(again(await linesOf('kubelet-restart', { timestamps: 'relative' }))).toEqual([
      '      +4.559  app          kubelet begins to stop it again: its grace counts anew, kill now at ~+24',
    ]);
    for (const name of recordingNames.filter((one) => one !== 'kubelet-restart'))
      expect(again(await linesOf(name)), name).toEqual([]);
  });

  it('come out right the first time: only what was provisional, or said to be known to the second, is told twice', async () => {
    for (const name of recordingNames) {
      const told = markLines(await linesOf(name));
      const again = told.filter((line) => /confirmed|corrected|withdrawn/.test(line));
      const unsure = told.filter((line) => /probably exited|\(between /.test(line));
      expect(again.length, name).toBeLessThanOrEqual(unsure.length);
    }
  });

  it.each(recordingNames)('of %s hold every mark, exit code and finding of the report', async (name) => {
    const report = await reportOfRecording(name);
    const text = await linesOf(name);
    expect(new Set(markLines(text)).size).toBeGreaterThanOrEqual(report.marks.length);
    expect(text).toContain(`${report.verdict.outcome}: `);
    for (const { code } of report.verdict.findings) expect(text).toContain(`${code}: `);
    expect(text.includes(`Exit code ${report.verdict.exitCode}.`)).toBe(report.verdict.exitCode !== 0);
  });

  it.each([40, 60, 80, 120, 200])('are never wider than %i columns', async (columns) => {
    for (const name of recordingNames)
      for (const timestamps of ['relative', 'utc'] as const)
        for (const line of (await linesOf(name, { columns: () => columns, timestamps, logs: true })).split('\n'))
          expect(stringWidth(line), `${name}: ${line}`).toBeLessThanOrEqual(columns);
  });

  it('are nothing but ASCII where Unicode is not wanted', async () => {
    for (const name of recordingNames)
      // eslint-disable-next-line no-control-regex -- the whole of ASCII is meant
      expect(await linesOf(name, { style: { color: 0, unicode: false } })).toMatch(/^[\u0000-\u007f]*$/);
  });

  it('hold an escape sequence only in colour, and the same text either way', async () => {
    const escape = String.fromCharCode(27);
    const bare = await linesOf('multi-container');
    const colored = await linesOf('multi-container', { style: { color: 2, unicode: true } });
    expect(bare).not.toContain(escape);
    expect(colored).toContain(escape);
    expect(colored.replaceAll(new RegExp(`${escape}\\[\\d+m`, 'g'), '')).toBe(bare);
  });

  it('tell the times of day in UTC, or seconds alone', async () => {
    expect(markLines(await linesOf('graceful-exit'))[0]).toMatch(/^ {2}23:04:29\.612 {4}\+0\.000 {2}request/);
    expect(markLines(await linesOf('graceful-exit', { timestamps: 'relative' }))[0]).toMatch(
      /^ {6}\+0\.000 {2}request/,
    );
  });

  it('show log lines only with --logs, each under its container, and escaped', async () => {
    const evil = 'a\u001b[2Jb\u202ec';
    const spoil = (sightings: Sighting[]): Sighting[] =>
      sightings.map((one) => (one.kind === 'line' ? { ...one, text: evil } : one));
    expect(await linesOf('graceful-exit', { logs: false }, spoil)).not.toContain('│ a');
    const shown = await linesOf('graceful-exit', { logs: true }, spoil);
    expect(shown).toMatch(/\+0\.105 {2}app {10}│ a\\x1b\[2Jb\\u202ec\n/);
    expect(unseenIn(shown.replaceAll('\n', ''))).toEqual([]);
  });
});

describe('the text report', () => {
  it.each(recordingNames)('of %s ends as the lines of its run do', async (name) => {
    const text = renderText(await reportOfRecording(name));
    const tail = (whole: string): string => whole.slice(whole.indexOf('\n  phase '));
    expect(tail(text)).toBe(tail(await linesOf(name)));
    expect(tail(text).length).toBeGreaterThan(100);
  });

  it('is made of any report, and leaves it as it was', () => {
    for (const [name, make] of reports) {
      const report = make();
      const before = JSON.stringify(report);
      const text = renderText(report, { columns: 80 });
      expect(text, name).toContain(forTerminal(report.pod.name).slice(0, 20));
      expect(JSON.stringify(report), name).toBe(before);
    }
  });

  it('shows no character of a hostile report that acts or hides', () => {
    for (const columns of [30, 80, Infinity])
      expect(unseenIn(renderText(hostile(), { columns }).replaceAll('\n', ''))).toEqual([]);
  });

  it('says what was not seen', async () => {
    const report = await reportOfRecording('graceful-exit');
    const at = report.grace.deadline;
    const gaps = [{ resource: 'endpointslices', from: at, cause: 'refused' as const }];
    expect(renderText({ ...report, gaps })).toMatch(/not seen: endpointslices \(refused, from \+9\.4\)/);
  });
});

it('observes the same trace whether lines are written or not', async () => {
  const observations = observationsOf(await sightingsOf('finalizer'));
  const before = JSON.stringify(mustReport(traceOf(observations)));
  await linesOf('finalizer');
  expect(JSON.stringify(mustReport(traceOf(observations)))).toBe(before);
});
