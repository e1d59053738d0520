/** `demo`: runs the very command that a user would run, against a cluster inside this program. */
import { writeFileSync } from 'node:fs';
import type { Ports } from '../session/ports.ts';
import type { DemoCluster } from '../session/demo-cluster.ts';
import { defaultScenario, scenarioLines, startDemo, temporaryKubeconfig } from '../session/demo-cluster.ts';
import type { main } from './main.ts';
import type { Flags } from './options.ts';
import { wholeNumber } from './options.ts';
import { pipelineWords } from './pipeline-flags.ts';
import { usageError } from './usage.ts';

type Main = typeof main;

interface DemoCommand {
  /** Runs the command line: handed in, so that the demo brings no second copy of the program. */
  main: Main;
  scenario: string | undefined;
  flags: Flags & { list?: boolean; serve?: boolean; port?: string; writeKubeconfig?: string };
}

export async function runDemo({ main, scenario = defaultScenario, flags }: DemoCommand, ports: Ports): Promise<number> {
  if (flags.list) return list(ports);
  if (flags.writeKubeconfig !== undefined && !flags.serve)
    throw usageError(
      'demo',
      '--write-kubeconfig goes with --serve',
      'Write: kubectl-podexit demo --serve --write-kubeconfig FILE',
    );
  const cluster = await startDemo(scenario, wholeNumber(flags.port, '--port') ?? 0);
  try {
    return await (flags.serve ? serve(cluster, flags.writeKubeconfig, ports) : trace(main, cluster, flags, ports));
  } finally {
    await cluster.close();
  }
}

async function list({ stdout }: Ports): Promise<number> {
  const lines = await scenarioLines();
  const width = Math.max(...lines.map((one) => one.name.length));
  lines.forEach((one) => stdout.write(`${one.name.padEnd(width)}  ${one.about}\n`));
  return 0;
}

/** The user's own flags come last, so that they win over what the scenario asks for. */
async function trace(main: Main, cluster: DemoCluster, flags: Flags, ports: Ports): Promise<number> {
  const kubeconfig = temporaryKubeconfig(cluster.kubeconfig);
  const words = [cluster.pod, '-n', cluster.namespace, ...scenarioFlags(cluster, flags)];
  try {
    if (!ports.stdout.isTty || flags.output === undefined)
      ports.stderr.write(`${cluster.about}\n$ kubectl podexit ${words.join(' ')}\n\n`);
    return await main([...words, '--kubeconfig', kubeconfig.file, ...passedOn(flags)], ports);
  } finally {
    kubeconfig.remove();
  }
}

const scenarioFlags = (cluster: DemoCluster, flags: Flags): string[] =>
  flags.attach || flags.force || flags.now || flags.gracePeriod !== undefined ? [] : cluster.flags;

/** Flags as words again: the demo adds nothing to what the command does with them. */
function passedOn(flags: Flags): string[] {
  const values: [string, string | undefined][] = [
    ['--grace-period', flags.gracePeriod],
    ['--timeout', flags.timeout],
    ['--output', flags.output],
    ['--record', flags.record],
    ['--color', flags.color],
    ['--timestamps', flags.timestamps],
    ['--v', flags.v],
  ];
  const switches: [string, boolean | undefined][] = [
    ['--now', flags.now],
    ['--force', flags.force],
    ['--attach', flags.attach],
    ['--wait-replacement', flags.waitReplacement],
    ['--ascii', flags.ascii],
    ['--logs', flags.logs === true],
    ['--no-logs', flags.logs === false],
  ];
  return [
    ...values.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])),
    ...switches.flatMap(([name, on]) => (on ? [name] : [])),
    ...(flags.report ?? []).map((file) => `--report=${file}`),
    ...pipelineWords(flags),
  ];
}

async function serve(
  cluster: DemoCluster,
  file: string | undefined,
  { stdout, stderr, onSignal }: Ports,
): Promise<number> {
  const words = [cluster.pod, '-n', cluster.namespace, ...cluster.flags].join(' ');
  if (file === undefined) stdout.write(cluster.kubeconfig);
  else writeFileSync(file, cluster.kubeconfig, { mode: 0o600 });
  const kubeconfig = file === undefined ? 'the kubeconfig above' : file;
  stderr.write(
    `${cluster.about}\nserving at ${cluster.url} with ${kubeconfig}; try:\n  kubectl podexit ${words} --kubeconfig ${file ?? 'FILE'}\nCtrl-C ends it\n`,
  );
  await new Promise<void>((resolve) => {
    const stop = onSignal(() => {
      stop();
      resolve();
    });
  });
  return 0;
}
