/** `demo`: runs the same command as a user would, against a cluster inside this program. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secondEndpoint, startBalancer } from '../demo/balancer.ts';
import { startLoopback, type Loopback } from '../demo/loopback.ts';
import {
  type Scenario,
  loadScenario,
  scenariosNamed,
  shippedScenarios,
  type ShippedScenario,
} from '../demo/scenarios.ts';
import { PodexitError } from '../errors.ts';
import type { Output } from '../output/ports.ts';
import { sentenceOn, wrapWords } from '../output/prose.ts';
import type { Ports } from '../run/ports.ts';
import { signalCodes } from '../verdict/policy.ts';
import type { Main } from './command.ts';
import type { Flags } from './flags.ts';
import { usageError, wholeNumber } from './usage.ts';
import { shellQuoted } from './words.ts';

type DemoFlags = Flags & { list?: boolean; fixed?: boolean; serve?: boolean; port?: string; writeKubeconfig?: string };

/** How long a served cluster shows the end before it starts over. */
const playAgainAfterMs = 15_000;

/**
 * Returns the exit code of the command. Throws PodexitError `demo.scenario` and `demo.port`. `given`: the user's flags, as
 * words, for the command that `main` runs. `main` is passed in, so that the demo does not bundle a second program.
 */
export async function runDemo(
  main: Main,
  scenario: string | undefined,
  flags: DemoFlags,
  given: readonly string[],
  ports: Ports,
): Promise<number> {
  if (flags.list) return listScenarios(ports.stdout);
  if (flags.writeKubeconfig !== undefined && !flags.serve)
    throw usageError(
      'demo',
      '--write-kubeconfig needs --serve',
      'Write: kubectl-podexit demo --serve --write-kubeconfig FILE',
    );
  // The report would blame the user, whose grace period differs from the recorded one.
  if (flags.force || flags.now || flags.gracePeriod !== undefined)
    throw usageError(
      'demo',
      'a scenario plays as it was recorded, with its recorded grace period',
      'Leave out --grace-period, --now and --force.',
    );
  const problem = chosen(scenario ?? 'graceful-exit');
  const shipped = flags.fixed ? fixedVersionOf(problem) : problem;
  const about = flags.fixed ? `Fixed: ${shipped.about}` : shipped.about;
  if (flags.serve) return onCluster(shipped, flags, (cluster) => serve(cluster, about, flags.writeKubeconfig, ports));
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const files = { before: join(folder, 'before.json'), after: join(folder, 'after.json') };
  try {
    // Both are played at once: the comparison follows without another wait.
    const isCompared = flags.fixed && flags.output === undefined && !flags.dryRun;
    const silent = (output: Output): Output => ({ ...output, isTty: false, write: () => {} });
    const quiet = { ...ports, stdout: silent(ports.stdout), stderr: silent(ports.stderr) };
    /** The user's own flags come last, so that they win over those of the scenario. */
    const trace = ({ server, words, yes, probe }: DemoCluster, own: readonly string[], to: Ports): Promise<number> => {
      const file = join(folder, `kubeconfig-${new URL(server.url).port}`);
      writeKubeconfig(file, server.kubeconfig());
      return main([...words, ...probe, ...own, ...yes, '--kubeconfig', file], { ...to, isDemo: true });
    };
    const playSilently = (one: DemoCluster) => trace(one, [`--report=${files.before}`], quiet);
    // Without its report nothing is compared, and the user's own run is shown all the same.
    const before = isCompared ? onCluster(problem, {}, playSilently).catch(() => undefined) : undefined;
    const code = await onCluster(shipped, flags, (cluster) => {
      const shown = [...cluster.words, ...cluster.probe, ...given];
      if (!ports.stdout.isTty || flags.output === undefined)
        ports.stderr.write(`${sentenceOn(ports.stderr, about)}\n$ kubectl podexit ${shellQuoted(shown)}\n\n`);
      return trace(cluster, isCompared ? [...given, `--report=${files.after}`] : given, ports);
    });
    await before;
    if (isCompared && existsSync(files.before) && existsSync(files.after)) {
      ports.stderr.write('\n$ kubectl podexit compare before.json after.json\n\n');
      await main(['compare', files.before, files.after], ports);
    }
    const { SIGINT, SIGTERM, SIGHUP, SIGPIPE } = signalCodes;
    if ([SIGINT, SIGTERM, SIGHUP].includes(code))
      ports.stderr.write('The cluster of this demo has ended as well: there is no pod to look for.\n');
    else if (flags.output === undefined && code !== SIGPIPE) ports.stderr.write(afterwards(shipped, flags, ports));
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function chosen(name: string): ShippedScenario {
  const [found, ...others] = scenariosNamed(name);
  if (found === undefined) throw notChosen(`unknown scenario "${name}"`, 'There are', shippedScenarios);
  if (others.length === 0) return found;
  throw notChosen(`several scenarios begin with "${name}"`, 'Name one of them', [found, ...others]);
}

function fixedVersionOf({ name, fixed }: ShippedScenario): ShippedScenario {
  const [fixedOne] = fixed === undefined ? [] : scenariosNamed(fixed);
  if (fixedOne !== undefined) return fixedOne;
  const pairs = shippedScenarios.filter((scenario) => scenario.fixed !== undefined);
  throw notChosen(`"${name}" has no fixed version`, 'These have', pairs);
}

const notChosen = (message: string, hint: string, possible: readonly ShippedScenario[]): PodexitError =>
  new PodexitError('demo.scenario', message, `${hint}: ${possible.map(({ name }) => name).join(', ')}`);

interface DemoCluster {
  readonly server: Loopback;
  /** The command line that does what the recording did. */
  readonly words: readonly string[];
  /** For a trace: nobody is asked before a recorded pod is deleted. */
  readonly yes: readonly string[];
  /** For a trace: requests through the cluster's load balancer, if it has one. */
  readonly probe: readonly string[];
}

async function onCluster(shipped: ShippedScenario, flags: DemoFlags, use: (cluster: DemoCluster) => Promise<number>) {
  const scenario = loadScenario(shipped);
  const server = await startServer(scenario, flags);
  const own = shipped.words ?? [server.pod, ...(flags.attach ? [] : flagsFor(scenario, server.pod))];
  const words = [...own, '-n', server.namespace];
  const { lateBalancerMs: lateMs, secondEndpointOf: service } = shipped;
  if (service !== undefined) server.write('endpointslices', 'ADDED', secondEndpoint(server.namespace, service));
  const balancer = lateMs === undefined || flags.dryRun ? undefined : await startBalancer({ lateMs, ...server });
  try {
    const yes = shipped.words === undefined ? ['--yes'] : [];
    return await use({ server, words, yes, probe: balancer === undefined ? [] : ['--probe', balancer.url] });
  } finally {
    balancer?.close();
    await server.close();
  }
}

async function startServer(scenario: Scenario, { port, serve }: DemoFlags): Promise<Loopback> {
  const wanted = wholeNumber(port, '--port') ?? 0;
  try {
    return await startLoopback({ scenario, port: wanted, playAgainAfterMs: serve ? playAgainAfterMs : undefined });
  } catch (cause) {
    const message = `the cluster cannot listen on port ${wanted}`;
    throw new PodexitError('demo.port', message, 'Choose another one with --port, or leave it out.', { cause });
  }
}

/** The flags that make podexit do what the recording did: none for a plain DELETE, `--attach`, `--force`, … */
function flagsFor({ rows }: Scenario, pod: string): string[] {
  const request = rows.find((row) => row.type === 'request');
  if (request?.type !== 'request' || !request.path.includes(`/pods/${pod}`)) return ['--attach'];
  if (request.path.endsWith('/eviction')) return ['--attach'];
  const grace = (request.body as { gracePeriodSeconds?: number } | undefined)?.gracePeriodSeconds;
  return grace === undefined ? [] : grace === 0 ? ['--force'] : [`--grace-period=${grace}`];
}

/** The printed commands name a kubeconfig that is deleted with the demo, so that none of them reaches another cluster. */
function afterwards(shipped: ShippedScenario, { fixed }: DemoFlags, { env }: Ports): string {
  const next = scenariosToTry(shipped, fixed).map((words) => `  ${demoCommand(env)} ${words}\n`);
  return `\nThis demo's cluster has ended: the commands above no longer reach it.\nTry next:\n${next.join('')}`;
}

/** The fixed version, and the following scenario that is not this one's fixed version. */
export function scenariosToTry(shipped: ShippedScenario, wasFixed = false): string[] {
  const after = shippedScenarios.slice(shippedScenarios.indexOf(shipped) + 1);
  const [next = shipped] = [...after, ...shippedScenarios].filter(({ name }) => name !== shipped.fixed);
  return [...(shipped.fixed === undefined || wasFixed ? [] : [`${shipped.name} --fixed`]), next.name];
}

/** As it was started: after `npm run demo` or `npx`, the program may not be on the PATH. */
function demoCommand(env: Ports['env']): string {
  if (env['npm_lifecycle_event'] === 'demo') return 'npm run demo --';
  return env['npm_command'] === 'exec' ? 'npx kubectl-podexit demo' : 'kubectl podexit demo';
}

async function serve(
  { server, words, probe }: DemoCluster,
  about: string,
  file: string | undefined,
  { stdout, stderr, onSignal }: Ports,
): Promise<number> {
  if (file === undefined) stdout.write(server.kubeconfig());
  else writeKubeconfig(file, server.kubeconfig());
  const end = `It plays as it was recorded, whatever grace period is requested, without controllers: nothing else rolls out or is created. It starts over ${playAgainAfterMs / 1000} s after the end. Ctrl-C stops it.`;
  stderr.write(`${sentenceOn(stderr, about)}
serving at ${server.url} with ${file ?? 'the kubeconfig above'}; try:
  kubectl podexit ${shellQuoted([...words, ...probe, '--kubeconfig', file ?? 'FILE'])}
${sentenceOn(stderr, end)}
`);
  await new Promise<void>((resolve) => {
    const stop = onSignal(() => resolve(stop()));
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

/** One line for each, or at a terminal wrapped to its width. */
function listScenarios(stdout: Output): number {
  const width = Math.max(...shippedScenarios.map(({ name }) => name.length)) + 2;
  for (const { name, about, fixed } of shippedScenarios) {
    const line = fixed === undefined ? about : `${about} Has a --fixed version.`;
    const lines = wrapWords(line, stdout.isTty ? stdout.columns() - width : Infinity);
    stdout.write(`${name.padEnd(width)}${lines.join(`\n${' '.repeat(width)}`)}\n`);
  }
  return 0;
}
