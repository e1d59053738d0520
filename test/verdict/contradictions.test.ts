/** No two numbers on a card contradict each other, nor the log lines that the container wrote. */
import { describe, expect, it } from 'vitest';
import { reportOf } from '../../src/advice/report.ts';
import { renderText } from '../../src/output/text/lines.ts';
import { deletedText } from '../../src/output/pod-facts.ts';
import type { Trace } from '../../src/model/trace.ts';
import { lengthText } from '../../src/verdict/words.ts';
import type { Report } from '../../src/verdict/report.ts';
import { rawObservationsOfStory, storyOfSeed } from '../helpers/simulated.ts';
import { rounds } from '../helpers/sweep.ts';
import { allNames, observationsOf, traceOf, tracedPodsOf } from '../helpers/recordings.ts';

/** Rounding of two printed numbers, and what the schedule of shown moments may differ by, ms. */
const slackMs = 60;

/** A log line arrives this much later than it was written, ms (assumption `log-stamp-lag`). */
const logLagMs = 1000;

/** `≈32.8s of 30s, preStop ≤50.3s` */
function isHookLonger(line: string): boolean {
  const [, used, hook] = /(?:–|[≈≤ ])(\d+\.\d)s of \d+s, preStop (?:\S*–|[≈≤])?(\d+\.\d)s/.exec(line) ?? [];
  return Number(hook) > Number(used) + slackMs / 1000;
}

function contradictions(report: Report, trace: Trace): string[] {
  const { timeline, answer, ledger } = report;
  const total = timeline.total?.max ?? Infinity;
  const texts = [answer.headline, answer.why ?? '', deletedText(report) ?? ''];
  // Lengths of a spec, and those before the request or after the removal, are no lengths of this exit.
  const printed = texts.flatMap((text) =>
    [
      ...text
        .replace(/kept running for [^(]*/g, '')
        .matchAll(/(?<![\d.–≥])(\d+\.\d)s(?! grace| for | before | by a PodDis| by throttling| after its node|s)/g),
    ].map(([, seconds]) => Number(seconds) * 1000),
  );
  const longer = printed.filter((ms) => ms > total + slackMs).map((ms) => `${ms} ms is longer than the total`);
  const held = ledger
    .filter(({ seconds }) => seconds * 1000 > total + slackMs)
    .map(({ what }) => `${what} is too long`);
  const bars = renderText(report).split('\n');
  const own = timeline.containers.flatMap(({ name, kind, stopSignal, exit, drain, preStop }) => {
    const { log } = trace.containers.get(name) ?? {};
    const shown = drain && stopSignal && exit ? exit.at.shown - stopSignal.shown - drain.shown : 0;
    // The hook's command may have sent what the application logged, and a sidecar's line may be older than its turn.
    const isDoubtful = preStop?.kind === 'exec' || kind === 'sidecar';
    const spoke = isDoubtful ? Infinity : (log?.signalLines[0]?.at ?? Infinity);
    const isLogOpen = exit?.code !== undefined && log?.ended === undefined;
    // A line that arrives after the pod was removed was held up on its way.
    const last = isLogOpen && (log?.lastLine?.at ?? Infinity) < (trace.gone?.at ?? 0) ? (log?.lastLine?.at ?? 0) : 0;
    return [
      Math.abs(shown) > slackMs
        ? `${name}: signal and exit are not ${lengthText(drain ?? { min: 0, max: 0, shown })} apart`
        : '',
      (stopSignal?.shown ?? -Infinity) > spoke + 1 ? `${name}: its signal is shown after it had logged it` : '',
      (exit?.at.shown ?? Infinity) < last - logLagMs ? `${name}: it is shown to exit before its last log line` : '',
      bars.some((line) => line.includes(`${name} `) && isHookLonger(line))
        ? `${name}: its hook took longer than all`
        : '',
    ].filter((text) => text !== '');
  });
  return [...longer, ...held, ...own];
}

it('the cards of simulated exits contradict neither themselves nor the log', () => {
  for (let seed = 1; seed <= rounds(20, 1000); seed += 1) {
    const trace = traceOf(observationsOf(rawObservationsOfStory(storyOfSeed(seed))));
    const report = reportOf(trace);
    if (!report) continue;
    expect.soft(contradictions(report, trace), `seed ${seed}`).toEqual([]);
    expect.soft(JSON.stringify(report.answer.fix), 'the API takes whole seconds').not.toMatch(/econds":\d+\.\d/);
  }
});

describe('the card contradicts neither itself nor the log', () => {
  it.each(allNames)('%s', async (name) => {
    for (const { pod, report, trace } of (await tracedPodsOf(name)).slice(0, rounds(3, 40)))
      expect(contradictions(report, trace), pod).toEqual([]);
  });
});
