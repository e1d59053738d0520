/** The output of `replay`, for commands that read recordings: so a recording gives the same result everywhere. */
import type { ReplayText } from '../advice/history/reports.ts';
import type { Ports } from '../run/ports.ts';
import type { Main } from './command.ts';

/** `run` is the whole program. */
export const replayTextWith =
  (run: Main, ports: Ports): ReplayText =>
  async (file, words) => {
    let text = '';
    const stdout = { ...ports.stdout, isTty: false, write: (part: string) => void (text += part) };
    const quiet = { ...ports, stdout, env: {}, stderr: { ...ports.stderr, write: () => {} } };
    await run(['replay', file, '--no-config', '--no-github', ...words], quiet);
    return text;
  };
