/** `replay FILE [POD]`, and what it prints, for commands that read recordings: so a recording says the same everywhere. */
import type { Command } from 'commander';
import type { Replay } from '../advice/history/reports.ts';
import type { ReplayText } from '../advice/why/report.ts';
import type { Ports } from '../run/ports.ts';
import { formatFrom, lookOf, reportsOf, addOutputFlags, type Flags } from './options.ts';
import { policyFrom, addPipelineFlags, publishFrom } from './pipeline-flags.ts';

const examples = `Examples:
  kubectl podexit web-0 --record exit.ndjson           record an exit
  kubectl podexit replay exit.ndjson                   show it again
  kubectl podexit replay exit.ndjson -o html > a.html  in another format
  kubectl podexit replay rollout.ndjson web-1          one pod of a rollout
`;

export function addReplay(program: Command, ports: Ports, set: (code: number) => void): void {
  const replay = program
    .command('replay <file> [pod]')
    .description('show a recorded run again, or one pod of it')
    .addHelpText('before', examples);
  const logs = { logs: "show the containers' log lines (the default)", noLogs: 'leave them out' };
  addPipelineFlags(addOutputFlags(replay, { logs }))
    .option('-v, --v <level>', 'show evidence, phases and assumptions: 1')
    .action(async (file: string, pod: string | undefined, flags: Flags) => {
      const { replayFile } = await import('../run/replay.ts');
      const format = formatFrom(flags, false);
      set(
        await replayFile(
          {
            file,
            pod: pod?.replace(/^pods?\//, ''),
            format,
            look: { ...lookOf(flags), logs: flags.logs !== false },
            reports: reportsOf(flags),
            policy: await policyFrom(flags),
            publish: publishFrom(flags),
          },
          ports,
        ),
      );
    });
}

/** `run` is the whole program. */
export const replayTextWith =
  (run: (argv: readonly string[], ports: Ports) => Promise<number>, ports: Ports): ReplayText =>
  async (file, words) => {
    let text = '';
    const stdout = { ...ports.stdout, isTty: false, write: (part: string) => void (text += part) };
    const quiet = { ...ports, stdout, env: {}, stderr: { ...ports.stderr, write: () => {} } };
    await run(['replay', file, '--no-config', '--no-github', ...words], quiet);
    return text;
  };

/** The report of a recording, as a document. */
export const replayWith = (run: Parameters<typeof replayTextWith>[0], ports: Ports): Replay => {
  const replay = replayTextWith(run, ports);
  return async (file) => JSON.parse(await replay(file, ['-o', 'json'])) as unknown;
};
