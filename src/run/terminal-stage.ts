/** Lines, and the live view over them, on stdout. */
import { createLines } from '../render/lines.ts';
import { createLive } from '../render/live.ts';
import { canRepaint, styleOf } from '../render/palette.ts';
import type { LookOptions, Stage } from './stage.ts';
import type { Ports } from './ports.ts';

export function openTerminal(kind: 'lines' | 'live', look: LookOptions, ports: Ports): Stage {
  const { env, platform, stdout } = ports;
  const live = kind === 'live' && canRepaint({ env, isTty: stdout.isTty, platform });
  return live ? liveStage(look, ports) : linesStage(look, ports);
}

const styleFor = (look: LookOptions, { stdout, env, platform }: Ports) =>
  styleOf({ color: look.color, ascii: look.ascii }, { env, isTty: stdout.isTty, platform });

function linesStage(look: LookOptions, ports: Ports): Stage {
  const { stdout } = ports;
  const lines = createLines({
    write: (text) => stdout.write(text),
    style: styleFor(look, ports),
    timestamps: look.timestamps,
    ...(stdout.isTty ? { columns: () => stdout.columns() } : {}),
    logs: look.logs,
    reach: look.reach,
  });
  return {
    step: (trace, observation) => lines.step(trace, observation),
    end: async (trace, report) => lines.end(trace, report),
    say: () => false,
    close: () => {},
  };
}

function liveStage(look: LookOptions, ports: Ports): Stage {
  const { stdout, stderr, clock } = ports;
  const live = createLive({
    write: (text) => stdout.write(text),
    style: styleFor(look, ports),
    columns: () => stdout.columns(),
    rows: () => stdout.rows(),
    clock,
    timestamps: look.timestamps,
    logs: look.logs,
    reach: look.reach,
  });
  const stopResizing = stdout.onResize(() => live.resize());
  return {
    step: (trace, observation) => live.step(trace, observation),
    end: async (trace, report) => live.end(trace, report),
    say: (text) => {
      if (!stderr.isTty) return false;
      live.say(text);
      return true;
    },
    close: () => {
      stopResizing();
      live.close();
    },
  };
}
