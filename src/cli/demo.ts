/** `demo`: runs the same command as a user would, against a cluster inside this program. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Help } from 'commander';
import { secondEndpoint, startBalancer } from '../demo/balancer.ts';
import { startLoopback, type Loopback } from '../demo/loopback.ts';
import type { Scenario } from '../demo/scenario.ts';
import {
  loadScenario,
  scenarioAfter,
  scenariosNamed,
  shippedScenarios,
  type ShippedScenario,
} from '../demo/scenarios.ts';
import { PodexitError } from '../errors.ts';
import type { Output } from '../output/ports.ts';
import type { Ports } from '../run/ports.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import type { Flags, Main } from './command.ts';
import { usageError, wholeNumber } from './usage.ts';
import { shellQuoted } from './words.ts';

/** How long a served cluster shows the end before it starts over. */
const playAgainAfterMs = 15_000;

/**
 * Returns the exit code of the command. Throws PodexitError `demo.scenario` and `demo.port`. `given`: the user's flags, as
 * words, for the command that `main` runs. `main` is passed in, so that the demo does not bundle a second program.
 */
export async function runDemo(
  main: Main,
  scenario: string | undefined,
  flags: Flags,
  given: readonly string[],
  ports: Ports,
): Promise<number> {
  if (flags.list) {
    listScenarios(ports.stdout);
    return 0;
  }
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
  const shipped = chosen(scenario ?? 'graceful-exit', flags.fixed ?? false);
  const about = flags.fixed ? `Fixed: ${shipped.about}` : shipped.about;
  const played = loadScenario(shipped);
  const server = await startServer(played, flags);
  const words = [...(shipped.words ?? [server.pod, ...(flags.attach ? [] : flagsFor(played, server.pod))])];
  words.push('-n', server.namespace);
  const { lateBalancerMs: lateMs, secondEndpointOf: service } = shipped;
  if (service !== undefined) server.write('endpointslices', 'ADDED', secondEndpoint(server.namespace, service));
  const pod = { name: server.pod, requests: server.requests, truth: () => server.truth() };
  const balancer = lateMs === undefined ? undefined : await startBalancer({ lateMs, pod });
  try {
    if (flags.serve) return await serve(server, { words, about, file: flags.writeKubeconfig }, ports);
    const probe = balancer === undefined ? [] : ['--probe', balancer.url];
    return await trace(main, server, { words: [...words, ...probe, ...given], about, shipped, flags }, ports);
  } finally {
    balancer?.close();
    await server.close();
  }
}

function chosen(name: string, fixed: boolean): ShippedScenario {
  const [found, ...others] = scenariosNamed(name);
  if (found === undefined) throw notChosen(`unknown scenario "${name}"`, 'There are', shippedScenarios);
  if (others.length > 0)
    throw notChosen(`several scenarios begin with "${name}"`, 'Name one of them', [found, ...others]);
  if (!fixed) return found;
  const [fixedOne] = found.fixed === undefined ? [] : scenariosNamed(found.fixed);
  if (fixedOne !== undefined) return fixedOne;
  const pairs = shippedScenarios.filter((scenario) => scenario.fixed !== undefined);
  throw notChosen(`"${found.name}" has no fixed version`, 'These have', pairs);
}

const notChosen = (message: string, hint: string, possible: readonly ShippedScenario[]): PodexitError =>
  new PodexitError('demo.scenario', message, `${hint}: ${possible.map(({ name }) => name).join(', ')}`);

async function startServer(scenario: Scenario, { port, serve }: Flags): Promise<Loopback> {
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

/** The user's own flags come last, so that they win over those of the scenario. */
async function trace(
  main: Main,
  server: Loopback,
  { words, about, shipped, flags }: { words: string[]; about: string; shipped: ShippedScenario; flags: Flags },
  { stderr, ...ports }: Ports,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const forPeople = flags.output === undefined;
  try {
    writeFileSync(kubeconfig, server.kubeconfig(), { mode: 0o600 });
    if (!ports.stdout.isTty || forPeople)
      stderr.write(`${wrapped(about, stderr)}\n$ kubectl podexit ${shellQuoted(words)}\n\n`);
    const yes = shipped.words === undefined ? ['--yes'] : [];
    const code = await main([...words, ...yes, '--kubeconfig', kubeconfig], { ...ports, stderr });
    const { SIGINT, SIGTERM, SIGHUP, SIGPIPE } = signalCodes;
    if ([SIGINT, SIGTERM, SIGHUP].includes(code))
      stderr.write('The cluster of this demo has ended as well: there is no pod to look for.\n');
    else if (forPeople && code !== SIGPIPE) stderr.write(`\n${demoIsOver}${tryNext(shipped, flags)}`);
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The printed commands name a kubeconfig that is deleted with the demo, so that none of them reaches another cluster. */
const demoIsOver = "This demo's cluster has ended: the commands above no longer reach it.\n";

/** One line for each, so that the report above stays on a small screen. */
function tryNext(shipped: ShippedScenario, { fixed }: Flags): string {
  const next = scenarioAfter(shipped)?.name;
  const commands = [shipped.fixed !== undefined && !fixed && `${shipped.name} --fixed`, next].filter(Boolean);
  return `Try next:\n${commands.map((command) => `  kubectl podexit demo ${command}\n`).join('')}`;
}

async function serve(
  server: Loopback,
  { words, about, file }: { words: string[]; about: string; file: string | undefined },
  { stdout, stderr, onSignal }: Ports,
): Promise<number> {
  if (file === undefined) stdout.write(server.kubeconfig());
  else writeKubeconfig(file, server.kubeconfig());
  const end = `It plays as it was recorded, whatever grace period is requested, and starts over ${playAgainAfterMs / 1000} s after the end. Ctrl-C stops it.`;
  stderr.write(`${wrapped(about, stderr)}
serving at ${server.url} with ${file ?? 'the kubeconfig above'}; try:
  kubectl podexit ${shellQuoted([...words, '--kubeconfig', file ?? 'FILE'])}
${wrapped(end, stderr)}
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

/** One line, or at a terminal lines of its width, wrapped between words. `hang`: blanks before every line but the first. */
function wrapped(text: string, output: Output, hang = 0): string {
  const help = Object.assign(new Help(), { minWidthToWrap: 1 });
  const lines = output.isTty ? help.boxWrap(text, output.columns() - hang) : text;
  return lines.replaceAll('\n', `\n${' '.repeat(hang)}`);
}

/** One line for each, or at a terminal wrapped to its width. */
function listScenarios(stdout: Output): void {
  const width = Math.max(...shippedScenarios.map(({ name }) => name.length)) + 2;
  for (const { name, about, fixed } of shippedScenarios) {
    const line = fixed === undefined ? about : `${about} Has a --fixed version.`;
    stdout.write(`${name.padEnd(width)}${wrapped(line, stdout, width)}\n`);
  }
}
