/** What stdout shows while a run goes on, by format. A renderer that throws is dropped and named; the run goes on. */
import type { Observation } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import { afterInput } from './clock.ts';
import { isDocument, type DocumentKind, type Format } from './formats.ts';
import type { Ports } from './ports.ts';
import type { LookOptions, Stage } from './run.ts';

export async function openStage(format: Format, look: LookOptions, ports: Ports): Promise<Stage> {
  if (isDocument(format)) return documentStage(format, ports);
  if (format.kind === 'ndjson') return fenced((await import('./ndjson-stage.ts')).ndjsonStage(ports), ports);
  const { openTerminal } = await import('./terminal-stage.ts');
  return fenced(openTerminal(format.kind, look, ports), ports);
}

/**
 * A stage that is loaded when the first list has come, while the server answers what is asked next, and shows nothing before
 * there is news of a deletion: both would delay the DELETE. A deletion makes several streams report within a few milliseconds,
 * so everything that has arrived is read first and then shown at once: the newest trace, and every log line in its order.
 */
export function openOnDeletion(open: () => Promise<Stage>): Stage {
  let held: Step[] = [];
  let stage: Stage | undefined;
  let opening: Promise<Stage> | undefined;
  let isShowing = false;
  let isScheduled = false;
  let isClosed = false;
  const opened = (): Promise<Stage> =>
    (opening ??= open().then((one) => {
      stage = one;
      if (isClosed) one.close();
      else if (isShowing) show();
      return one;
    }));
  const show = (): void => {
    if (!stage || isClosed) return;
    const steps = held;
    held = [];
    for (const step of steps) stage.step(...step);
  };
  const afterReading = (): void => {
    isScheduled = false;
    // An error is thrown by `end`.
    if (!stage) void opened().catch(() => undefined);
    else if (isShowing) show();
  };
  return {
    step: (trace, observation, key) => {
      hold(held, [trace, observation, key]);
      isShowing ||= hasNews(trace, observation);
      if (isScheduled || !(isShowing || observation.kind === 'listed')) return;
      isScheduled = true;
      afterInput(afterReading);
    },
    end: async (trace, report) => {
      const last = await opened();
      show();
      await last.end(trace, report);
    },
    say: (text) => stage?.say(text) ?? false,
    close: () => {
      isClosed = true;
      stage?.close();
    },
  };
}

type Step = Parameters<Stage['step']>;

/** A trace holds all that was observed before it; only a log line is shown for itself. A `Date` alone is no news. */
function hold(held: Step[], [trace, observation, key]: Step): void {
  const before = held.at(-1)?.[1];
  const isReplaced = before !== undefined && before.kind !== 'line';
  if (isReplaced) held.pop();
  held.push([trace, isReplaced && observation.kind === 'dated' ? before : observation, key]);
}

const hasNews = ({ deletion, began }: Trace, { kind }: Observation): boolean =>
  deletion !== undefined ||
  began?.value.mode !== 'delete' ||
  kind === 'requested' ||
  kind === 'gap' ||
  kind === 'refused';

const documentStage = (format: Format & { kind: DocumentKind }, ports: Ports): Stage => ({
  step: () => {},
  end: async (_trace, report) => {
    const { renderDocument } = await import('./documents.ts');
    ports.stdout.write(await renderDocument(format, report));
  },
  say: () => false,
  close: () => {},
});

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
