/** The flags of `demo`; its cluster is loaded only to run one. */
import { addDeleteFlags } from './delete-flags.ts';
import type { DemoFlags } from './demo.ts';
import { addOutputFlags, addTraceFlags } from './options.ts';
import { addPipelineFlags } from './pipeline-flags.ts';
import { addProbeFlags } from './probe-flags.ts';
import { givenFlags } from './words.ts';
import type { AddCommand } from './command.ts';

const demoExamples = `Examples:
  kubectl podexit demo                         the first scenario
  kubectl podexit demo sigkill                 an app that ignores SIGTERM
  kubectl podexit demo sigkill --fixed         the same app, with a handler
  kubectl podexit demo --list                  all scenarios
  kubectl podexit demo rollout --serve --write-kubeconfig kc
`;

/** A scenario has its grace already, and nothing depends on its pod. */
const refusedByDemo: ReadonlySet<string> = new Set(['--grace-period', '--now', '--force', '--cascade']);

export const addDemo: AddCommand = (program, ports, set, { main }) => {
  const demo = program
    .command('demo [scenario]')
    .description('try it without a cluster, on recorded deletions')
    .addHelpText('before', demoExamples)
    .option('--list', 'list the scenarios')
    .option('--fixed', 'play the scenario in which the problem is fixed')
    .option('--serve', 'only run the API server, for any client; it starts over after the end')
    .option('--port <port>', 'port of the cluster; default: any free one')
    .option('--write-kubeconfig <file>', 'with --serve: write a kubeconfig for it');
  const traced = addPipelineFlags(addProbeFlags(addOutputFlags(addTraceFlags(addDeleteFlags(demo)))));
  // Known, so that demo.ts can say why not.
  for (const one of traced.options) if (refusedByDemo.has(one.long ?? '')) one.hideHelp();
  traced.action(async (scenario: string | undefined, flags: DemoFlags) => {
    const { runDemo } = await import('./demo.ts');
    const given = givenFlags(demo).filter((word) => !/^--(list|fixed|serve|port|write-kubeconfig)\b/.test(word));
    set(await runDemo({ main, scenario, flags, given }, ports));
  });
};
