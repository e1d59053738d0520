/** What stdout shows during a run, by format. A renderer that throws is closed; the run continues. */
import { isDocument, type Format } from './formats.ts';
import type { OutputPorts } from './ports.ts';
import type { Report } from '../verdict/report.ts';
import type { LookOptions, Stage, View } from './view.ts';

async function openView(format: Format, look: LookOptions, ports: OutputPorts): Promise<View> {
  if (isDocument(format)) {
    const end = async (report: Report): Promise<void> => {
      const { exitViews } = await import('./documents.ts');
      const { render } = await import('./render.ts');
      ports.stdout.write(await render(format, exitViews, report));
    };
    return { step: () => {}, end };
  }
  // Apart from the views for people, which are much more code.
  if (format.kind === 'ndjson') return (await import('./machine/ndjson.ts')).linesOfPod(ports);
  return (await import('./text/live.ts')).openTerminal(format.kind, look, ports);
}

/** An error in a renderer costs its output, not the trace. */
export async function openStage(format: Format, look: LookOptions, ports: OutputPorts): Promise<Stage> {
  const view = await openView(format, look, ports);
  let broken = false;
  const guard = (work: () => void): void => {
    if (broken) return;
    try {
      work();
    } catch (error) {
      broken = true;
      view.close?.();
      const { stack = String(error) } = error as Error;
      ports.stderr.write(`podexit: the output failed and is now disabled: ${stack}\n`);
    }
  };
  return {
    step: (trace, observation, key) => guard(() => view.step(trace, observation, key)),
    end: async (report) => (broken ? undefined : view.end(report)),
    say: (text) => !broken && (view.say?.(text) ?? false),
    close: () => view.close?.(),
  };
}
