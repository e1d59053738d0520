/** Lines, and the live view over them, on stdout. */
import { createLines } from '../render/lines.ts';
import { styleOf } from '../render/palette.ts';
import type { LookOptions, Stage } from './audience.ts';
import type { Ports } from './ports.ts';

export function openTerminal(kind: 'lines' | 'live', look: LookOptions, ports: Ports): Stage {
  const { stdout, env, platform } = ports;
  const style = styleOf({ color: look.color, ascii: look.ascii }, { env, isTty: stdout.isTty, platform });
  const lines = createLines({
    write: (text) => stdout.write(text),
    style,
    timestamps: look.timestamps,
    ...(stdout.isTty ? { columns: () => stdout.columns() } : {}),
    logs: look.logs,
  });
  return {
    step: (trace, observation) => lines.step(trace, observation),
    end: async (trace, report) => lines.end(trace, report),
    close: () => {},
  };
}
