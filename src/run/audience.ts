/** What stdout shows during a run, by format. A renderer that throws is closed; the run continues. */
import type { Observation } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import { isDocument, type Format } from './formats.ts';
import type { Ports } from './ports.ts';
import type { Report } from '../verdict/report.ts';
import { newestOf, type LookOptions, type Stage, type Step, type View } from './run.ts';

export async function openStage(format: Format, look: LookOptions, ports: Ports): Promise<Stage> {
  return withErrorBoundary(await openView(format, look, ports), ports);
}

async function openView(format: Format, look: LookOptions, ports: Ports): Promise<View> {
  if (isDocument(format)) {
    const end = async (report: Report): Promise<void> => {
      const { renderDocument } = await import('./documents.ts');
      ports.stdout.write(await renderDocument(format, report));
    };
    return { step: () => {}, end };
  }
  // Apart from the views for people, which are much more code.
  if (format.kind === 'ndjson') return (await import('./ndjson-stage.ts')).linesOfPod(ports);
  return (await import('./views.ts')).openTerminal(format.kind, look, ports);
}

/**
 * Opens the stage when there is something to show, because loading it earlier would delay the DELETE. Until then the
 * run only lists what exists: the newest trace and all log lines are kept, and shown in order once the stage is open.
 */
export function openOnDeletion(open: () => Promise<Stage>): Stage {
  let heldSteps: Step[] = [];
  let stage: Stage | undefined;
  let opening: Promise<Stage> | undefined;
  let isClosed = false;
  const opened = (): Promise<Stage> =>
    (opening ??= open().then((loaded) => {
      stage = loaded;
      if (isClosed) loaded.close();
      else heldSteps.forEach((step) => loaded.step(...step));
      return loaded;
    }));
  return {
    step: (trace, observation, key) => {
      if (stage) return stage.step(trace, observation, key);
      heldSteps = newestOf([...heldSteps, [trace, observation, key]]);
      // `end` throws the error.
      if (isWorthShowing(trace, observation)) void opened().catch(() => undefined);
    },
    end: async (report) => (await opened()).end(report),
    say: (text) => stage?.say(text) ?? false,
    close: () => {
      isClosed = true;
      stage?.close();
    },
  };
}

/** True from the DELETE on: the stage loads while the server handles it, in time for the first marks. */
const isWorthShowing = ({ deletion, began }: Trace, { kind }: Observation): boolean =>
  deletion !== undefined ||
  began?.value.mode !== 'delete' ||
  kind === 'requested' ||
  kind === 'gap' ||
  kind === 'refused';

/** An error in a renderer costs its output, not the trace. */
function withErrorBoundary(view: View, { stderr }: Ports): Stage {
  let broken = false;
  const guard = (work: () => void): void => {
    if (broken) return;
    try {
      work();
    } catch (error) {
      broken = true;
      view.close?.();
      stderr.write(`podexit: the output failed and is now disabled: ${(error as Error).stack ?? String(error)}\n`);
    }
  };
  return {
    step: (trace, observation, key) => guard(() => view.step(trace, observation, key)),
    end: async (report) => (broken ? undefined : view.end(report)),
    say: (text) => !broken && (view.say?.(text) ?? false),
    close: () => view.close?.(),
  };
}
