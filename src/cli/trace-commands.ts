/** The commands with the flags of a trace: `rollout` follows the next rollout or starts one, `demo` plays a scenario. */
import { parseAnyTarget } from './target.ts';
import { splitAtDashes, givenFlags } from './words.ts';
import { usageError } from './usage.ts';
import { newCommand, type AddCommand } from './command.ts';
import { connectionFlags, deletionFlags, traceFlags, type FlagsOf } from './flags.ts';

const rolloutExamples = `Examples:
  kubectl podexit rollout deployment/checkout                     wait for the next one
  kubectl podexit rollout deployment/checkout --restart           start one
  kubectl podexit rollout deployment/checkout --image app=app:2   with another image
  kubectl podexit rollout deployment/checkout -- helm upgrade …   by any command
  kubectl podexit rollout deployment/checkout --restart --probe service/checkout

It ends when the rollout is complete and the old pods are gone, or when it stalls.
`;

const rolloutFlags = {
  'Options:': {
    '--restart': 'start it: kubectl rollout restart',
    '--image <container=image>': 'start it: kubectl set image',
  },
  ...traceFlags,
  ...connectionFlags,
};

export const addRollout: AddCommand = (program, _ports, _setExitCode, { trace }) => {
  const about = 'follow the next rollout to its end, or start it';
  const rollout = newCommand(program, 'rollout [target...]', about, rolloutExamples, rolloutFlags);
  rollout.usage('TYPE/NAME [--restart | --image CONTAINER=IMAGE | -- COMMAND ARGS…] [flags]');
  rollout.action(async (words: string[], flags: FlagsOf<typeof rolloutFlags>) => {
    const [named] = splitAtDashes(program, words);
    if (parseAnyTarget(named).kind !== 'workload')
      throw usageError('rollout', 'rollout needs a workload', 'Write: kubectl podexit rollout deployment/NAME');
    if (flags.image?.includes('=') === false)
      throw usageError('image', '--image takes CONTAINER=IMAGE', 'Write: --image app=app:2');
    await trace(rollout, words, { ...flags, allTerminating: true });
  });
};

const demoExamples = `Examples:
  kubectl podexit demo                         the first scenario
  kubectl podexit demo sigkill                 an app that ignores SIGTERM
  kubectl podexit demo sigkill --fixed         the same app, with a handler
  kubectl podexit demo --list                  all scenarios
  kubectl podexit demo rollout --serve --write-kubeconfig kc
`;

const demoFlags = {
  'Options:': {
    '--list': 'list the scenarios',
    '--fixed': 'play the scenario in which the problem is fixed',
    '--serve': 'only run the API server, for any client; it starts over after the end',
    '--port <port>': 'port of the cluster; default: any free one',
    '--write-kubeconfig <file>': 'with --serve: write a kubeconfig for it',
  },
  'Deletion, as in kubectl delete:': {
    ...deletionFlags['Deletion, as in kubectl delete:'],
    // Not shown, so that demo.ts can explain why they are refused: the grace period is a recorded one.
    ...{ '--grace-period <seconds>': '', '--now': '', '--force': '' },
  },
  ...traceFlags,
};

/** The cluster of `demo` (demo.ts) is loaded only to run a scenario. */
export const addDemo: AddCommand = (program, ports, setExitCode, { main }) => {
  const about = 'try it without a cluster, on recorded deletions';
  const demo = newCommand(program, 'demo [scenario]', about, demoExamples, demoFlags);
  demo.action(async (scenario: string | undefined, flags: FlagsOf<typeof demoFlags>) => {
    const { runDemo } = await import('./demo.ts');
    const given = givenFlags(demo).filter((word) => !/^--(list|fixed|serve|port|write-kubeconfig)\b/.test(word));
    setExitCode(await runDemo(main, scenario, flags, given, ports));
  });
};
