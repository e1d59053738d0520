/** `check TARGET`: how an exit would go, without one. */
import type { Command } from 'commander';
import type { Ports } from '../run/ports.ts';
import { addConnectionFlags } from './connection-flags.ts';
import { addTargetFlags } from './delete-flags.ts';
import type { Flags } from './options.ts';
import { traceOptions } from './options.ts';
import { addPipelineFlags } from './pipeline-flags.ts';
import { addOutputFlags } from './trace-flags.ts';

export function addCheck(program: Command, ports: Ports, set: (code: number) => void): void {
  const check = program
    .command('check [target...]')
    .usage('TARGET [flags]')
    .description('say how the exit of a pod would go; deletes nothing')
    .exitOverride();
  addTargetFlags(check)
    .optionsGroup('Forecast for:')
    .option('--grace-period <seconds>', "a deletion with this grace; default: the pod's own")
    .option('--evict', 'an eviction, which heeds PodDisruptionBudgets')
    .option('--timeout <duration>', 'a trace that gives up after this time')
    .option('-v, --v <level>', 'log requests and decisions to stderr, from 1 to 9');
  addConnectionFlags(addPipelineFlags(addOutputFlags(check, {}))).action(async (words: string[], flags: Flags) => {
    const { checkPod } = await import('../run/check-pod.ts');
    set(await checkPod(traceOptions(words, flags, ports.version, ports.stdout.isTty), ports));
  });
}
