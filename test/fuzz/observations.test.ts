/** Broken raw observations go through all steps to every renderer, without a crash and without unescaped output. */
import { expect, it } from 'vitest';
import { frame } from '../../src/output/text/frame.ts';
import { githubAnnotations, githubSummary } from '../../src/output/publish.ts';
import { renderHtml } from '../../src/output/html/page.ts';
import { renderJson } from '../../src/output/machine/json.ts';
import { renderJunit } from '../../src/output/machine/junit.ts';
import { createLines, renderText } from '../../src/output/text/lines.ts';
import { markdownSections, renderMarkdown } from '../../src/output/machine/markdown.ts';
import { renderName, wideTable } from '../../src/output/documents.ts';
import { createNdjson } from '../../src/output/machine/ndjson.ts';
import { plainPen } from '../../src/output/palette.ts';
import { printYaml } from '../../src/output/machine/yaml.ts';
import { narrowToPod } from '../../scripts/convert/narrow.ts';
import type { Observation, RawObservation } from '../../src/model/observation.ts';
import { observe } from '../../src/model/observe.ts';
import { reduce } from '../../src/model/reduce.ts';
import type { Trace } from '../../src/model/trace.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { timelineOf } from '../../src/infer/conclude.ts';
import { exitReportOf } from '../../src/verdict/exit-report.ts';
import type { Report } from '../../src/verdict/report.ts';
import { reportOf } from '../../src/advice/report.ts';
import { recordingNames, rowsOf } from '../helpers/recordings.ts';
import { seeded } from '../helpers/seeded.ts';
import { unseenIn } from '../output/helpers/unseen.ts';
import type { Random } from './helpers/mutate.ts';
import { mutate, pick } from './helpers/mutate.ts';
import { cases, firstSeed, fuzzTime } from './helpers/rounds.ts';

const documents: ((report: Report) => string)[] = [
  (report) => renderJson(exitReportOf(report)),
  (report) => printYaml(exitReportOf(report)),
  renderMarkdown,
  renderHtml,
  renderJunit,
  renderName,
  (report) => wideTable([report]),
  (report) => renderText(report, { verbose: true }),
  (report) => `${githubAnnotations(report).join('\n')}${githubSummary(markdownSections(report))}`,
  (report) => {
    let received = '';
    createNdjson((line) => (received += line)).end(exitReportOf(report));
    return received;
  },
];

it(
  'renders any raw observations without a crash, and escapes everything',
  async () => {
    const stories = await Promise.all(recordingNames.map(async (name) => [...narrowToPod(rowsOf(name))]));
    const count = cases(10_000);
    let reports = 0;
    for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
      const random = seeded(seed * 104_729);
      const rawObservations = corrupted(random, pick(random, stories));
      try {
        reports += renderAll(rawObservations, seed) ? 1 : 0;
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
    process.stdout.write(`fuzzed observations: ${count} cases, ${reports} reports\n`);
    // With a broken pod there may be no report, but most damage leaves one.
    expect(reports).toBeGreaterThan(count / 2);
  },
  fuzzTime,
);

/** Breaks, removes, duplicates or reorders some raw observations. */
function corrupted(random: Random, story: readonly RawObservation[]): RawObservation[] {
  const share = random() * 0.3;
  return story.flatMap((rawObservation): RawObservation[] => {
    if (random() > share) return [rawObservation];
    const draw = random();
    if (draw < 0.1) return [];
    if (draw < 0.2) return [rawObservation, rawObservation];
    if (draw < 0.3) return [{ ...rawObservation, at: rawObservation.at + Math.round((random() - 0.5) * 20_000) }];
    return [broken(random, rawObservation)];
  });
}

/** Breaks only data from the cluster, not the kind and the client's clock. */
function broken(random: Random, rawObservation: RawObservation): RawObservation {
  switch (rawObservation.kind) {
    case 'listed':
      return { ...rawObservation, objects: rawObservation.objects.map((object) => mutate(random, object)) };
    case 'changed':
    case 'answered':
    case 'looked':
      return rawObservation.object === undefined
        ? rawObservation
        : { ...rawObservation, object: mutate(random, rawObservation.object) };
    case 'line': {
      const [time, said] = mutate(random, [rawObservation.time, rawObservation.text ?? '']) as unknown[];
      return { ...rawObservation, time: String(time), text: String(said) };
    }
    default:
      return rawObservation;
  }
}

const window = { columns: 80, rows: 24, pen: plainPen };

function renderAll(rawObservations: readonly RawObservation[], seed: number): boolean {
  const received: string[] = [];
  const lines = createLines({
    write: (text) => void received.push(text),
    pen: plainPen,
    timestamps: 'relative',
    columns: () => 100,
    logs: true,
  });
  let trace: Trace = emptyTrace;
  rawObservations.forEach((rawObservation, index) => {
    const observation: Observation = observe(rawObservation, index + 1, { logText: true });
    trace = reduce(trace, observation);
    // Each step of a few runs, and the end of every run.
    if (seed % 16 > 1) return;
    const timeline = timelineOf(trace);
    if (seed % 16 === 0) lines.step(timeline, observation);
    else if (timeline)
      received.push(...frame(timeline, trace.now + 100, window).flatMap((line) => line.map(({ text }) => text)));
  });
  const report = reportOf(trace);
  if (!report) return false;
  const render = documents[seed % documents.length];
  if (render) received.push(render(report));
  const unseen = unseenIn(received.join('\n'));
  if (unseen.length > 0) throw new Error(`unescaped ${unseen.join(', ')}`);
  return true;
}
