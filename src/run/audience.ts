/** What stdout shows while a run goes on, by format. A renderer that throws is dropped and named; the run goes on. */
import type { DocumentKind, Format } from './formats.ts';
import { isDocument } from './formats.ts';
import type { Ports } from './ports.ts';
import type { LookOptions, Stage } from './stage.ts';

export async function openStage(format: Format, look: LookOptions, ports: Ports): Promise<Stage> {
  if (isDocument(format)) return documentStage(format, ports);
  if (format.kind === 'ndjson') return fenced((await import('./ndjson-stage.ts')).ndjsonStage(ports), ports);
  const { openTerminal } = await import('./terminal-stage.ts');
  return fenced(openTerminal(format.kind, look, ports), ports);
}

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
