/** What `replay` prints, for commands that read recordings: so a recording says the same everywhere. */
import type { Replay } from '../advice/history/reports.ts';
import type { ReplayText } from '../advice/why/report.ts';
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

/** The report of a recording, as a document. */
export const replayWith = (run: Main, ports: Ports): Replay => {
  const replay = replayTextWith(run, ports);
  return async (file) => JSON.parse(await replay(file, ['-o', 'json'])) as unknown;
};
