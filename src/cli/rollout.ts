/** `rollout`: follows the next rollout of a workload to its end, or starts one. */
import { addConnectionFlags } from './connection-flags.ts';
import { addTraceFlags } from './options.ts';
import { parseAnyTarget } from './target.ts';
import { splitAtDashes } from './words.ts';
import { usageError } from './usage.ts';
import type { AddCommand, Flags } from './command.ts';

const examples = `Examples:
  kubectl podexit rollout deployment/checkout                     wait for the next one
  kubectl podexit rollout deployment/checkout --restart           start one
  kubectl podexit rollout deployment/checkout --image app=app:2   with another image
  kubectl podexit rollout deployment/checkout -- helm upgrade …   by any command
  kubectl podexit rollout deployment/checkout --restart --probe service/checkout

It ends when the rollout is complete and the old pods are gone, or when it stalls.
`;

export const addRollout: AddCommand = (program, _ports, _setExitCode, { trace }) => {
  const rollout = program
    .command('rollout [target...]')
    .usage('TYPE/NAME [--restart | --image CONTAINER=IMAGE | -- COMMAND ARGS…] [flags]')
    .description('follow the next rollout to its end, or start it')
    .addHelpText('before', examples)
    .option('--restart', 'start it: kubectl rollout restart')
    .option('--image <container=image>', 'start it: kubectl set image');
  addConnectionFlags(addTraceFlags(rollout)).action(async (words: string[], flags: Flags) => {
    const [named] = splitAtDashes(program, words);
    if (parseAnyTarget(named).kind !== 'workload')
      throw usageError('rollout', 'rollout needs a workload', 'Write: kubectl podexit rollout deployment/NAME');
    if (flags.image?.includes('=') === false)
      throw usageError('image', '--image takes CONTAINER=IMAGE', 'Write: --image app=app:2');
    await trace(rollout, words, { ...flags, allTerminating: true });
  });
};
