/** `replay FILE [POD]`: shows a recorded run again. */
import { statSync } from 'node:fs';
import { addOutputFlags, outputOptions } from './options.ts';
import { addPipelineFlags } from './pipeline-flags.ts';
import { usageError } from './usage.ts';
import type { AddCommand, Flags } from './command.ts';

const examples = `Examples:
  kubectl podexit web-0 --record exit.ndjson           record an exit
  kubectl podexit replay exit.ndjson                   show it again
  kubectl podexit replay exit.ndjson -o html > a.html  in another format
  kubectl podexit replay rollout.ndjson web-1          one pod of a rollout
  kubectl podexit replay recordings/                   list a folder, each with its result
`;

export const addReplay: AddCommand = (program, ports, setExitCode) => {
  const replay = program
    .command('replay <file> [pod]')
    .description('show a recorded run again, or one pod of it')
    .addHelpText('before', examples);
  const logs = { logs: "show the containers' log lines (the default)", noLogs: 'leave them out' };
  addPipelineFlags(addOutputFlags(replay, logs))
    .option('--as-live', 'print the lines in the order in which they became known')
    .option('-v, --v <level>', 'show evidence, phases and assumptions: 1')
    .action(async (file: string, pod: string | undefined, flags: Flags) => {
      const { replayFile, reportsInRecording } = await import('../run/recorded-run.ts');
      const output = await outputOptions({ ...flags, logs: flags.logs !== false }, false);
      if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
        if (flags.output !== undefined || flags.report)
          throw usageError('replay', 'the list of a folder has no other format', 'Name one of its recordings.');
        const { listRecordings } = await import('../run/list-recordings.ts');
        return setExitCode(await listRecordings(file, reportsInRecording, ports));
      }
      const look = { ...output.look, isSorted: !flags.asLive };
      const options = { file, pod: pod?.replace(/^pods?\//, ''), ...output, look };
      setExitCode(await replayFile(options, ports));
    });
};
