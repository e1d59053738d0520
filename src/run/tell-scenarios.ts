/** The scenarios of `demo` on stdout. */
import { scenarioLines } from './demo-cluster.ts';
import type { Output } from './ports.ts';

/** A line each for programs; at a terminal no wider than it is. */
export async function tellScenarios(stdout: Output): Promise<void> {
  const scenarios = await scenarioLines();
  const width = Math.max(...scenarios.map(({ name }) => name.length));
  const lines = scenarios.map(({ name, about }) => `${name.padEnd(width)}  ${about}`);
  const told = stdout.isTty ? await wrapped(lines, stdout.columns(), width + 2) : lines;
  stdout.write(`${told.join('\n')}\n`);
}

async function wrapped(lines: readonly string[], columns: number, hang: number): Promise<string[]> {
  const { penFor, plainStyle } = await import('../render/palette.ts');
  const { flow, plain } = await import('../render/prose.ts');
  return lines.flatMap((line) => flow(penFor(plainStyle), [plain(line)], { width: columns, hang }));
}
