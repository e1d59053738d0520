/** The flags of `demo`. Its cluster (demo.ts) is loaded only to run a scenario. */
import { addDeleteFlags } from './delete-flags.ts';
import { addTraceFlags } from './options.ts';
import { givenFlags } from './words.ts';
import type { AddCommand, Flags } from './command.ts';

const demoExamples = `Examples:
  kubectl podexit demo                         the first scenario
  kubectl podexit demo sigkill                 an app that ignores SIGTERM
  kubectl podexit demo sigkill --fixed         the same app, with a handler
  kubectl podexit demo --list                  all scenarios
  kubectl podexit demo rollout --serve --write-kubeconfig kc
`;

export const addDemo: AddCommand = (program, ports, setExitCode, { main }) => {
  const demo = program
    .command('demo [scenario]')
    .description('try it without a cluster, on recorded deletions')
    .addHelpText('before', demoExamples)
    .option('--list', 'list the scenarios')
    .option('--fixed', 'play the scenario in which the problem is fixed')
    .option('--serve', 'only run the API server, for any client; it starts over after the end')
    .option('--port <port>', 'port of the cluster; default: any free one')
    .option('--write-kubeconfig <file>', 'with --serve: write a kubeconfig for it');
  const traced = addTraceFlags(addDeleteFlags(demo));
  // Parsed but hidden, so that demo.ts can explain why they are refused: the grace period is a recorded one.
  const refused: readonly string[] = ['--grace-period', '--now', '--force', '--cascade'];
  for (const option of traced.options) if (refused.includes(option.long ?? '')) option.hideHelp();
  traced.action(async (scenario: string | undefined, flags: Flags) => {
    const { runDemo } = await import('./demo.ts');
    const given = givenFlags(demo).filter((word) => !/^--(list|fixed|serve|port|write-kubeconfig)\b/.test(word));
    setExitCode(await runDemo(main, scenario, flags, given, ports));
  });
};
