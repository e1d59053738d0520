/** Who is told on stdout while a run goes on, by format. A renderer that throws is dropped and named; the run goes on. */
import { renderDocument, isDocument } from './documents.ts';
import type { Format } from './formats.ts';
import type { Ports } from './ports.ts';
import type { LookOptions, Stage } from './stage.ts';
import type { Ndjson } from '../render/ndjson.ts';
import { timelineOf } from '../infer/conclude.ts';
import type { Trace } from '../model/trace.ts';
import type { Looks } from '../infer/view/chatter.ts';
import { afterLook, isChatter } from '../infer/view/chatter.ts';
import { exitReportOf, gapReport, markReport } from '../verdict/exit-report.ts';
import { printTime } from '../model/stamps.ts';

export async function openStage(format: Format, look: LookOptions, ports: Ports): Promise<Stage> {
  if (isDocument(format)) return documentStage(format, ports);
  if (format.kind === 'ndjson') return fenced(await ndjsonStage(ports), ports);
  const { openTerminal } = await import('./terminal-stage.ts');
  return fenced(openTerminal(format.kind, look, ports), ports);
}

const documentStage = (format: Parameters<typeof renderDocument>[0], ports: Ports): Stage => ({
  step: () => {},
  end: async (_trace, report) => ports.stdout.write(await renderDocument(format, report)),
  say: () => false,
  close: () => {},
});

/**
 * Marks are worth telling again only when something was observed about the pod; notes tell that. A `Date` alone is never
 * told: what it narrows comes with the next observation, or with the report. A run asks each of its streams at the end, and
 * ten answers would stand between the last lines of the watches and their marks.
 */
async function ndjsonStage({ stdout }: Ports): Promise<Stage> {
  const { createNdjson } = await import('../render/ndjson.ts');
  const ndjson = createNdjson((lines) => stdout.write(lines));
  let told: Trace['notes'];
  let looks: Looks = [];
  return {
    step: (trace, observation) => {
      if (trace.notes === told || observation.kind === 'dated' || isChatter(trace, observation, looks)) return;
      told = trace.notes;
      looks = afterLook(looks, trace, observation);
      tellNews(ndjson, trace);
    },
    end: async (_trace, report) => ndjson.end(exitReportOf(report)),
    say: () => false,
    close: () => {},
  };
}

function tellNews(ndjson: Ndjson, trace: Trace): void {
  const { marks = [], gaps = [] } = timelineOf(trace) ?? {};
  const at = printTime(trace.now, 'earlier');
  ndjson.marks(
    at,
    marks.map((mark) => ({ ...markReport(mark), provisional: mark.provisional })),
  );
  ndjson.gaps(at, gaps.map(gapReport));
}

/** A fault in a renderer costs its output, not the trace. */
function fenced(stage: Stage, { stderr }: Ports): Stage {
  let broken = false;
  const guard = (work: () => void): void => {
    if (broken) return;
    try {
      work();
    } catch (error) {
      broken = true;
      stage.close();
      stderr.write(
        `podexit: the output failed and is left out from here on: ${(error as Error).stack ?? String(error)}\n`,
      );
    }
  };
  return {
    step: (trace, observation, key) => guard(() => stage.step(trace, observation, key)),
    end: async (trace, report) => (broken ? undefined : stage.end(trace, report)),
    say: (text) => !broken && stage.say(text),
    close: () => stage.close(),
  };
}
