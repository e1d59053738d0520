/** `compare BEFORE AFTER` and `recommend REPORT…`: conclusions from the reports of many exits. */
import type { RecommendFailOn } from '../advice/history/recommend-command.ts';
import { collect } from './connection-flags.ts';
import { oneOf, severalOf, usageError } from './usage.ts';
import { addDocumentFlags, documentOptions } from './options.ts';
import type { AddCommand, Flags } from './command.ts';

const compareExamples = `Examples:
  kubectl podexit compare before.json after.json                  two reports
  kubectl podexit compare old/ new/ -o markdown >> "$SUMMARY"     two folders, for a pull request
  kubectl podexit compare before.ndjson after.ndjson --fail-on worse

A difference that the measurements do not prove is not claimed.
`;

const recommendExamples = `Examples:
  kubectl podexit recommend reports/                   every report of a folder
  kubectl podexit recommend rollout.json               one report of a rollout
  kubectl podexit recommend reports/ --fail-on raise   exit 5 where the grace period is too short

It needs at least 10 exits of a workload, and warns about a mixture of versions.
`;

export const addCompare: AddCommand = (program, ports, setExitCode) => {
  const command = program
    .command('compare <before> <after>')
    .description('compare two exits or rollouts')
    .addHelpText('before', compareExamples)
    .option('--fail-on <what>', 'worse: exit 5 if anything got worse', collect);
  addDocumentFlags(command, 'compare').action(async (before: string, after: string, flags: Flags) => {
    for (const word of flags.failOn ?? []) oneOf(word, ['worse'], '--fail-on');
    const { compareFiles } = await import('../advice/history/compare-command.ts');
    const { reportsInRecording: readRecording } = await import('../run/recorded-run.ts');
    const failOnWorse = flags.failOn !== undefined;
    const output = await documentOptions(flags, 'compare');
    setExitCode(await compareFiles({ before, after, failOnWorse, readRecording, ...output }, ports));
  });
};

export const recommendFailures: readonly RecommendFailOn[] = ['raise', 'lower', 'killed', 'lost'];

export const addRecommend: AddCommand = (program, ports, setExitCode) => {
  const command = program
    .command('recommend [report...]')
    .description('find the grace period that a workload needs')
    .addHelpText('before', recommendExamples)
    .option('--fail-on <what,…>', `${recommendFailures.join(', ')}: exit 5 if so; may be repeated`, collect);
  addDocumentFlags(command, 'recommend').action(async (names: string[], flags: Flags) => {
    if (names.length === 0) throw usageError('recommend', 'no report was named', 'Name reports, or a folder of them.');
    const { recommend } = await import('../advice/history/recommend-command.ts');
    const { reportsInRecording: readRecording } = await import('../run/recorded-run.ts');
    const failOn = severalOf(flags.failOn, recommendFailures, '--fail-on');
    const options = { names, failOn, readRecording, ...(await documentOptions(flags, 'recommend')) };
    setExitCode(await recommend(options, ports));
  });
};
