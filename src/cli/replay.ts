/** `replay FILE [POD]`: shows a recorded run again. */
import { addOutputFlags, outputOptions } from './options.ts';
import { addPipelineFlags } from './pipeline-flags.ts';
import type { AddCommand, Flags } from './command.ts';

const examples = `Examples:
  kubectl podexit web-0 --record exit.ndjson           record an exit
  kubectl podexit replay exit.ndjson                   show it again
  kubectl podexit replay exit.ndjson -o html > a.html  in another format
  kubectl podexit replay rollout.ndjson web-1          one pod of a rollout
`;

export const addReplay: AddCommand = (program, ports, setExitCode) => {
  const replay = program
    .command('replay <file> [pod]')
    .description('show a recorded run again, or one pod of it')
    .addHelpText('before', examples);
  const logs = { logs: "show the containers' log lines (the default)", noLogs: 'leave them out' };
  addPipelineFlags(addOutputFlags(replay, logs))
    .option('-v, --v <level>', 'show evidence, phases and assumptions: 1')
    .action(async (file: string, pod: string | undefined, flags: Flags) => {
      const { replayFile } = await import('../run/recorded-run.ts');
      const output = await outputOptions({ ...flags, logs: flags.logs !== false }, false);
      const options = { file, pod: pod?.replace(/^pods?\//, ''), ...output };
      setExitCode(await replayFile(options, ports));
    });
};
