/** `demo`: runs the very command that a user would run, against a cluster inside this program. */
import { writeFileSync } from 'node:fs';
import { PodexitError } from '../errors.ts';
import type { Ports } from '../run/ports.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import type { DemoCluster } from '../run/demo-cluster.ts';
import { defaultScenario, startDemo, temporaryKubeconfig } from '../run/demo-cluster.ts';
import { tellScenarios } from '../run/tell-scenarios.ts';
import type { main } from './main.ts';
import type { Flags } from './options.ts';
import { wholeNumber } from './options.ts';
import { usageError } from './usage.ts';

type Main = typeof main;

interface DemoCommand {
  /** Runs the command line: handed in, so that the demo brings no second copy of the program. */
  main: Main;
  scenario: string | undefined;
  flags: Flags & { list?: boolean; serve?: boolean; port?: string; writeKubeconfig?: string };
  /** The flags that the command gets, as words: the demo adds nothing to what it does with them. */
  given: readonly string[];
}

export async function runDemo(
  { main, scenario = defaultScenario, flags, given }: DemoCommand,
  ports: Ports,
): Promise<number> {
  if (flags.list) {
    await tellScenarios(ports.stdout);
    return 0;
  }
  if (flags.writeKubeconfig !== undefined && !flags.serve)
    throw usageError(
      'demo',
      '--write-kubeconfig goes with --serve',
      'Write: kubectl-podexit demo --serve --write-kubeconfig FILE',
    );
  // The report would blame whoever deletes with the recorded grace instead of the one that was asked for.
  if (asksForGrace(flags))
    throw usageError(
      'demo',
      'a scenario plays as it was recorded, with the grace that it had then',
      'Leave out --grace-period, --now and --force; demo --list shows which scenarios were deleted with a grace of their own.',
    );
  const cluster = await startDemo(scenario, wholeNumber(flags.port, '--port') ?? 0);
  try {
    return await (flags.serve
      ? serve(cluster, flags.writeKubeconfig, ports)
      : trace(main, cluster, { flags, given }, ports));
  } finally {
    await cluster.close();
  }
}

/** The user's own flags come last, so that they win over what the scenario asks for. */
async function trace(
  main: Main,
  cluster: DemoCluster,
  { flags, given }: Pick<DemoCommand, 'flags' | 'given'>,
  ports: Ports,
): Promise<number> {
  const kubeconfig = temporaryKubeconfig(cluster.kubeconfig);
  const words = [cluster.pod, '-n', cluster.namespace, ...(flags.attach ? [] : cluster.flags), ...given];
  try {
    if (!ports.stdout.isTty || flags.output === undefined)
      ports.stderr.write(`${cluster.about}\n$ kubectl podexit ${typed(words)}\n\n`);
    const code = await main([...words, '--kubeconfig', kubeconfig.file], ports);
    // What was said of where to look on is true of a cluster that stays.
    const { SIGINT, SIGTERM, SIGHUP } = signalCodes;
    if ([SIGINT, SIGTERM, SIGHUP].includes(code))
      ports.stderr.write('The cluster of this demo has ended as well: there is no pod to look for.\n');
    return code;
  } finally {
    kubeconfig.remove();
  }
}

/** As a POSIX shell or PowerShell takes it. */
const typed = (words: readonly string[]): string =>
  words.map((word) => (/^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');

const asksForGrace = ({ force, now, gracePeriod }: Flags): boolean =>
  force === true || now === true || gracePeriod !== undefined;

async function serve(
  cluster: DemoCluster,
  file: string | undefined,
  { stdout, stderr, onSignal }: Ports,
): Promise<number> {
  const words = [cluster.pod, '-n', cluster.namespace, ...cluster.flags, '--kubeconfig', file ?? 'FILE'];
  if (file === undefined) stdout.write(cluster.kubeconfig);
  else writeKubeconfig(file, cluster.kubeconfig);
  const kubeconfig = file === undefined ? 'the kubeconfig above' : file;
  stderr.write(
    `${cluster.about}\nserving at ${cluster.url} with ${kubeconfig}; try:\n  kubectl podexit ${typed(words)}\nIt plays the exit of that pod, once, as it was recorded: another grace that is asked for changes nothing. Ctrl-C ends it; start it again for another.\n`,
  );
  await new Promise<void>((resolve) => {
    const stop = onSignal(() => {
      stop();
      resolve();
    });
  });
  return 0;
}

function writeKubeconfig(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new PodexitError(
      'kubeconfig.unwritable',
      `cannot write the kubeconfig ${file} (${code ?? message})`,
      'Choose another path for --write-kubeconfig.',
      { cause: error },
    );
  }
}
