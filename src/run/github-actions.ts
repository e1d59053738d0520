/**
 * A step of GitHub Actions: annotations as workflow commands, the report in the step's summary.
 *
 * The runner reads workflow commands from both streams of a step (actions/runner, ScriptHandler: one OutputManager
 * each), though only stdout is documented. So they go to stdout beside lines for people, and to stderr where stdout
 * carries data that a program reads.
 */
import { appendFile, stat } from 'node:fs/promises';
import { githubAnnotations, githubSummary, summaryBytes } from '../render/github.ts';
import type { Report } from '../verdict/report.ts';
import type { Format } from './formats.ts';
import type { Ports } from './ports.ts';

/** A summary that cannot be written is a warning: what the step is about has been done. */
export async function publishToGithub(report: Report, format: Format, ports: Ports): Promise<void> {
  const { stdout, stderr, env } = ports;
  const commands = isForPeople(format) ? stdout : stderr;
  for (const annotation of githubAnnotations(report)) commands.write(`${annotation}\n`);
  const file = env['GITHUB_STEP_SUMMARY'] ?? '';
  if (file === '') return;
  try {
    // All that a step writes counts against its cap, and more than that is an error of the step.
    const room = summaryBytes - (await sizeOf(file));
    if (room > 0) await appendFile(file, githubSummary(report, room));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    stderr.write(`podexit: the step summary ${file} could not be written (${code ?? message})\n`);
  }
}

const isForPeople = ({ kind }: Format): boolean => kind === 'lines' || kind === 'live' || kind === 'text';

const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );
