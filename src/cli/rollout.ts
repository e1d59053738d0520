/** `rollout`: follows the next rollout of a workload to its end, or starts one. */
import type { RolloutStart } from '../run/progress/start.ts';
import { addConnectionFlags } from './connection-flags.ts';
import { traceOptions, addTraceFlags } from './options.ts';
import { probesFrom } from './probe-flags.ts';
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

export const addRollout: AddCommand = (program, ports, setExitCode) => {
  const rollout = program
    .command('rollout [target...]')
    .usage('TYPE/NAME [--restart | --image CONTAINER=IMAGE | -- COMMAND ARGS…] [flags]')
    .description('follow the next rollout to its end, or start it')
    .addHelpText('before', examples)
    .option('--restart', 'start it: kubectl rollout restart')
    .option('--image <container=image>', 'start it: kubectl set image');
  addConnectionFlags(addTraceFlags(rollout)).action(async (words: string[], flags: Flags) => {
    const [named, command] = splitAtDashes(program, words);
    const options = await traceOptions(rollout, named, { ...flags, allTerminating: true }, ports);
    const { target } = options;
    if (target.kind !== 'workload')
      throw usageError('rollout', 'rollout needs a workload', 'Write: kubectl podexit rollout deployment/NAME');
    const { traceSeveral } = await import('../run/group/trace-several.ts');
    const probes = await probesFrom(flags, ports.env);
    setExitCode(await traceSeveral({ ...options, target, probes, start: startOf(flags, command) }, ports));
  });
};

/** Throws usageError if there are several ways. */
function startOf({ restart, image }: Flags, command: readonly string[]): RolloutStart | undefined {
  const ways: RolloutStart[] = [
    ...(restart ? [{ kind: 'restart' as const }] : []),
    ...(image === undefined ? [] : [{ kind: 'image' as const, image }]),
    ...(command.length > 0 ? [{ kind: 'command' as const, argv: command }] : []),
  ];
  if (ways.length > 1)
    throw usageError('rollout', 'a rollout is started once', 'Give one of --restart, --image and -- COMMAND.');
  return ways[0];
}
