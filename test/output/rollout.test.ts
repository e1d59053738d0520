/** Several pods: the live table, the lines, and the final card. */
import { describe, expect, it } from 'vitest';
import { rolloutCardLines } from '../../src/output/text/rollout-card.ts';
import type { NewPod, ServiceCounts } from '../../src/output/text/rollout-facts.ts';
import { liveView, rolloutFrame } from '../../src/output/several.ts';
import { plainPen as pen } from '../../src/output/palette.ts';
import { textWidth } from '../../src/output/prose.ts';
import type { ProbeReport } from '../../src/model/report.ts';
import type { Report } from '../../src/verdict/report.ts';
import { rolloutNumbers } from '../../src/verdict/rollout.ts';
import { reportNamed } from './helpers/reports.ts';
import type { Happening } from './helpers/screen.ts';
import { screenOf } from './helpers/screen.ts';
import { outputOf, portsOn } from './helpers/ports.ts';
import { endOf, endsAt } from './helpers/card-end.ts';

const graceful = reportNamed('graceful-exit');
const killed = reportNamed('sigkill-after-grace');
const named = (report: Report, name: string): Report => ({
  ...report,
  timeline: {
    ...report.timeline,
    pod: { ...report.timeline.pod, metadata: { ...report.timeline.pod.metadata, name } },
  },
});
const pods = (count: number, report = graceful): Report[] =>
  Array.from({ length: count }, (_, index) => named(report, `web-${index}`));

describe('the card of many pods', () => {
  const card = (reports: readonly Report[], unseen: readonly string[] = []) =>
    rolloutCardLines(rolloutNumbers('deployment/web', reports, { unseen }), { pen, columns: 80 });
  /** As one line. */
  const textOf = (...words: Parameters<typeof card>): string =>
    card(...words)
      .join(' ')
      .replace(/\s+/g, ' ');
  const at = (report: Report, ms: number): Report => ({
    ...report,
    timeline: { ...report.timeline, zero: report.timeline.zero + ms },
  });

  it('begins with the number of pods, and ends with one sentence', () => {
    const lines = card(pods(12));
    expect(lines[0]).toMatch(/^✔ deployment\/checkout {2}12 of 12 pods terminated gracefully/);
    expect(endOf(lines)).toMatch(/^✔ 12 of 12 pods terminated gracefully; longest ≤3\.\ds from SIGTERM to exit$/);
  });

  it('says how its length adds up only if all pods are gone', () => {
    const staggered = [at(graceful, -6000), graceful];
    expect(textOf(staggered)).toMatch(/2 graceful · 10\.\ds: deleted over 6\.0s, all gone 4\.\ds later /);
    expect(textOf(staggered, ['web-9'])).toMatch(/10\.\ds in all /);
    const marks = graceful.timeline.marks.filter(({ name }) => name !== 'removed');
    const { total: _, ...timeline } = { ...graceful.timeline, marks };
    expect(textOf([at(graceful, -6000), { ...graceful, timeline }])).toMatch(/ in all /);
  });

  it('tells the requests that were lost while no pod was terminating from those of the exits', () => {
    const { zero, total } = graceful.timeline;
    const lostAt = (...times: readonly number[]) => {
      const instant = (ms: number) => {
        const [earliest, latest] = [new Date(ms).toISOString(), new Date(ms + 1).toISOString()];
        return { earliest, latest, basis: 'observed' as const, evidence: [] };
      };
      const windows = times.map((ms) => ({ start: instant(ms), end: instant(ms + 50), failed: 2 }));
      const failed = 2 * times.length;
      const probe: ProbeReport = {
        ...{ target: 'http://shop', via: 'url', ratePerSecond: 5, sent: 100, succeeded: 100 - failed, failed },
        ...{ failures: [{ kind: 'timeout', count: failed }], windows, latencyMs: {} },
      };
      return (reports: readonly Report[], unseen: readonly string[] = []) =>
        rolloutNumbers('deployment/web', reports, { probes: [probe], unseen }).requests.join();
    };
    const lost = lostAt(zero - 5000, zero + 500, zero + (total?.max ?? 0) + 900);
    expect(lost([graceful])).toMatch(
      /^100 sent · 6 failed \(timed out\) · 4 of them while none of these pods was terminating/,
    );
    expect(lostAt(zero - 500, zero + 500)([graceful])).not.toContain('terminating');
    // Pods that were not seen may have been terminating.
    const gap = { resource: 'pods', from: zero, cause: 'disconnected' } as const;
    for (const text of [
      lost([graceful], ['web-9']),
      lost([], ['web-9']),
      lost([{ ...graceful, timeline: { ...graceful.timeline, gaps: [gap] } }]),
    ])
      expect(text).not.toContain('terminating');
  });

  it('counts the others that were terminating on the node whose kubelet the slowest pod waited for', () => {
    const waits = { owner: 'kubelet', subject: 'node1', what: 'reported the exits', seconds: 4 } as const;
    const reports = pods(3, { ...graceful, ledger: [waits] });
    expect(textOf(reports)).toContain('node1 after the exit; meanwhile 2 others were terminating there');
    expect(textOf(reports.slice(0, 2))).toContain('; meanwhile 1 other was terminating there');
    expect(textOf(reports.slice(0, 1))).not.toContain('meanwhile');
    expect(textOf(reports.map((report, index) => at(report, index * 60_000)))).not.toContain('meanwhile');
    const [start] = [{ ...waits, what: 'began to stop the pod', seconds: 8 }];
    expect(textOf([{ ...graceful, ledger: [start, { ...waits, seconds: 0.5 }] }])).toContain(
      ': 8.0s waiting for the kubelet on node1 before the stop',
    );
    expect(textOf([{ ...graceful, ledger: [start, waits] }])).toContain(
      ': 12.0s waiting for the kubelet on node1 stop',
    );
  });

  it('claims no number between bounds that are far apart', () => {
    const drain = { min: 0, max: 6400, shown: 2700, basis: 'inferred' as const };
    const containers = graceful.timeline.containers.map((one) => ({ ...one, drain, graceUsed: drain }));
    const text = textOf(pods(2, { ...graceful, timeline: { ...graceful.timeline, containers } }));
    expect(text).toMatch(/ stop max ≤6\.4s from SIGTERM to exit, ≤64% of the grace period /);
    expect(text).toMatch(/longest ≤6\.4s from SIGTERM to exit$/);
    // What was not observed may have taken longer.
    expect(textOf([graceful, reportNamed('force-delete')])).toMatch(/longest observed ≤3\.3s from SIGTERM to exit$/);
  });

  it('says of an outage how long a Service had no ready backend', () => {
    const two = pods(2, reportNamed('statefulset'));
    expect(textOf(two)).toContain('outage: in 2 of 2 exits, no ready backend in Service db for ≥2.5s');
    expect(textOf(pods(2, reportNamed('owner-deleted')))).not.toContain('no ready backend');
    const different = [reportNamed('statefulset'), reportNamed('kubelet-restart')];
    expect(textOf(different)).toContain('outage: in 2 of 2 exits, for example: no ready backend ');
  });

  it('names the worst three pods, why they were killed and what to change, and has the icon of a failure', () => {
    const lines = card([...pods(5), ...pods(4, killed)]);
    expect(lines[0]).toMatch(/^✖/);
    expect(lines.filter((line) => line.includes('SIGKILLed: '))).toHaveLength(3);
    expect(endOf(lines)).toContain('5 of 9 pods terminated gracefully, 4 killed');
    const text = textOf([...pods(2), ...pods(2, killed)]);
    expect(text).toMatch(/why no log line and no readiness change of app after SIGTERM; its command ignores SIGTERM/);
    expect(text).toMatch(/fix in the command of app, replace `trap "" TERM` by a trap/);
    const total = { min: 0, max: 1, shown: 1, basis: 'observed' as const };
    const answer = { ...killed.answer, why: undefined, advice: ['look at its log'] };
    const sooner = { ...killed, answer, timeline: { ...killed.timeline, total } };
    expect(textOf([sooner, killed])).toMatch(/why no log line .* fix in the command of app/);
  });

  it('names a hook that failed where nothing else is to be explained', () => {
    const text = textOf([...pods(2), reportNamed('prestop-fails')]);
    expect(text).toMatch(/why the preStop hook of app failed in 1 of 3 exits/);
    expect(textOf(pods(3))).not.toMatch(/ why /);
  });

  it('has at most 25 lines for many pods, the closing sentence as one, and 80 columns', () => {
    for (const reports of [pods(60), [...pods(50), ...pods(10, killed)]]) {
      const lines = card(reports, ['web-x']);
      expect(endsAt(lines) + 1).toBeLessThanOrEqual(25);
      expect(lines.filter((line) => textWidth(line) > 80 && !line.includes('kubectl '))).toEqual([]);
    }
  });

  it('says if no pod was deleted', () => {
    expect(card([]).at(-1)).toBe('✔ no pod was deleted');
  });
});

describe('the table of many pods', () => {
  const now = graceful.timeline.zero + 2000;
  /** What a window shows after `act`, as lines that were written. */
  const play = (columns: number, rows: number, act: (live: ReturnType<typeof liveView>) => void) => {
    const happenings: Happening[] = [];
    const stdout = outputOf((text) => happenings.push({ kind: 'write', text }), { columns, rows });
    const look = { color: 'always', ascii: false, timestamps: 'utc', logs: false } as const;
    const live = liveView(look, portsOn(stdout, { now: () => now, setTimeout: () => () => {} }));
    act(live);
    live.close?.();
    return screenOf({ columns, rows }, happenings);
  };
  type Beside = Partial<Record<'newPods', NewPod[]> & { held: Map<string, string>; services: ServiceCounts[] }>;
  const table = (columns: number, rows: number, count: number, ended: Report[] = [], beside: Beside = {}) => {
    const open = pods(count).map(({ timeline }) => ({
      ...timeline,
      marks: timeline.marks.filter((mark) => mark.at.shown <= now && mark.name !== 'exited'),
      containers: timeline.containers.map(({ exit: _exit, ...one }) => one),
    }));
    const facts = { oldPods: ended.length + count, newPods: [], services: [], held: new Map(), ...beside };
    const state = { target: 'deployment/web', ended, open, ...facts };
    const frame = rolloutFrame(state, now, { columns: columns - 1, rows: rows - 1, pen });
    return frame.map((line) =>
      line
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    );
  };

  it('has a row for each terminating pod, and counts the terminated ones', async () => {
    const lines = table(100, 24, 4, [...pods(11), ...pods(1, killed)]);
    expect(lines[0]).toContain('deployment/web · 0:02 · 12 of 16 pods terminated');
    expect(lines[1]).toContain('11 Graceful, 1 SIGKILLed');
    expect(lines[2]).toMatch(/POD +AGE OF DELETION +PHASE +GRACE USED +SIGKILL IN +RESULT/);
    expect(lines.filter((line) => /^ {2}web-\d/.test(line))).toHaveLength(4);
    expect(lines[3]).toMatch(/web-0 +0:02 +draining +\d+% +[89]s/);
  });

  it('begins with the target alone before the first pod, whose namespace is not known', async () => {
    expect(table(100, 24, 0, [])[0]).toMatch(/^deployment\/web · waiting for a pod/);
  });

  it('has the new pods with their step, the ready endpoints, and the budget that holds a pod', async () => {
    const newPod = { isReady: false, seenAt: graceful.timeline.zero, ink: 'plain' as const };
    const newPods = [
      { ...newPod, name: 'web-7', step: 'ready', isReady: true },
      { ...newPod, name: 'web-8', step: 'not scheduled: FailedScheduling' },
    ];
    const services = [{ name: 'web', now: 3, fewest: 2, wanted: 4 }];
    const held = new Map([['shop/web-9', 'its eviction was refused']]);
    const lines = table(100, 24, 2, [], { newPods, services, held });
    expect(lines[0]).toBe('graceful-exit deployment/web · 0:02 · 0 of 2 pods terminated · 1 new ready');
    expect(lines[1]).toBe('  shop/web-9: its eviction was refused');
    const rows = lines.filter((line) => line !== '').map((line) => line.trim().split(/ {2,}/).join(' | '));
    expect(rows.slice(-5)).toEqual([
      'NEW POD | AGE | STEP',
      'web-8 | 0:02 | not scheduled: FailedScheduling',
      'web-7 | 0:02 | ready',
      'SERVICE | READY | FEWEST | WANTED',
      'web | 3 | 2 | 4',
    ]);
  });

  it('wraps the line of a pod with a bad exit code, and has none for a pod that Ctrl-C left behind', async () => {
    const columns = 50;
    const { written } = await play(columns, 24, ({ ended }) => {
      void ended?.(named(killed, 'web-1'));
      void ended?.({ ...named(graceful, 'web-2'), verdict: { ...graceful.verdict, exitCode: 130 } });
    });
    expect(written.filter((line) => textWidth(line) > columns)).toEqual([]);
    expect(written.join(' ').replace(/ +/g, ' ')).toMatch(/ web-1 ✖ SIGKILLed: .* of its 6s grace period$/);
  });

  it.each([
    [60, 20],
    [120, 40],
  ])('never exceeds a window of %i × %i', async (columns, rows) => {
    const lines = table(columns, rows, 60);
    expect(lines[0]).toContain('deployment/web');
    expect(lines.some((line) => line.includes('more terminating'))).toBe(true);
  });
});
