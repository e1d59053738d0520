/**
 * The commands that explain: `why` a past exit; `compare`, `recommend` and `replay` what files hold, `signals` and `explain`
 * what is known without them. All but `why` ask no cluster.
 */
import { whileWaiting } from '../run/ports.ts';
import { severalOf, valuesByCommand, usageError } from './usage.ts';
import { clusterOptions, documentOptions, outputOptions } from './options.ts';
import { parseTarget } from './target.ts';
import { newCommand, type AddCommand } from './command.ts';
import { clusterFlags, documentFlags, outputFlags, pipelineFlags, type Flags, type FlagsOf } from './flags.ts';
import { statSync } from 'node:fs';
import { splitAtDashes } from './words.ts';

const whyExamples = `Examples:
  kubectl podexit why -n shop                             the pods that ended recently, worst first
  kubectl podexit why checkout-6677656c54-258qr           what the Events of the last hour say
  kubectl podexit why deployment/checkout                 the worst of its pods that ended
  kubectl podexit why checkout-0 --from recordings/       what a recording says
  zcat audit-*.gz | kubectl podexit why checkout-0 --audit-log -
`;

const failOutcomes = valuesByCommand['why --fail-on'];

const whyFlags = {
  'Sources:': {
    '--from <folder>': 'recordings of exits; may be repeated',
    '--audit-log <file>':
      'audit log as lines, JSON or CSV, as clusters export it, plain, gzip or zstd; or - for standard input; may be repeated',
  },
  'Pipelines:': { '--fail-on <outcome,…>': `exit 5 for these outcomes: ${failOutcomes.join(', ')}` },
  ...documentFlags('why'),
  ...clusterFlags,
};

export const addWhy: AddCommand = (program, ports, setExitCode) => {
  const why = newCommand(program, 'why [target...]', 'explain an exit that is over', whyExamples, whyFlags);
  why.action(async (words: string[], flags: FlagsOf<typeof whyFlags>) => {
    const { why: run } = await import('../advice/why/why.ts');
    const { readRecording, reportOfLog } = await import('../run/recorded-run.ts');
    const options = {
      target: words.length === 0 ? undefined : parseTarget(words),
      from: flags.from ?? [],
      auditLogs: flags.auditLog ?? [],
      failOn: severalOf(flags.failOn, failOutcomes, '--fail-on'),
      ...clusterOptions(flags, ports.version),
      readRecording,
      reportOfLog,
      ...(await documentOptions(flags, 'why')),
    };
    setExitCode(await whileWaiting('reading what is known of the exit', ports, (quiet) => run(options, quiet)));
  });
};

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

const compareFlags = {
  'Options:': { '--fail-on <what>': 'worse: exit 5 if anything got worse' },
  ...documentFlags('compare'),
};

export const addCompare: AddCommand = (program, ports, setExitCode) => {
  const about = 'compare two exits or rollouts';
  const command = newCommand(program, 'compare <before> <after>', about, compareExamples, compareFlags);
  command.action(async (before: string, after: string, flags: Flags) => {
    const { compareFiles } = await import('../advice/history/compare.ts');
    const { readRecording } = await import('../run/recorded-run.ts');
    const failOnWorse = severalOf(flags.failOn, valuesByCommand['compare --fail-on'], '--fail-on').length > 0;
    const output = await documentOptions(flags, 'compare');
    setExitCode(await compareFiles({ before, after, failOnWorse, readRecording, ...output }, ports));
  });
};

const recommendFailures = valuesByCommand['recommend --fail-on'];

const recommendFlags = {
  'Options:': { '--fail-on <what,…>': `${recommendFailures.join(', ')}: exit 5 if so; may be repeated` },
  ...documentFlags('recommend'),
};

export const addRecommend: AddCommand = (program, ports, setExitCode) => {
  const about = 'find the grace period that a workload needs';
  const command = newCommand(program, 'recommend [report...]', about, recommendExamples, recommendFlags);
  command.action(async (names: string[], flags: Flags) => {
    if (names.length === 0) throw usageError('recommend', 'no report was named', 'Name reports, or a folder of them.');
    const { recommend } = await import('../advice/history/recommend.ts');
    const { readRecording } = await import('../run/recorded-run.ts');
    const failOn = severalOf(flags.failOn, recommendFailures, '--fail-on');
    const options = { names, failOn, readRecording, ...(await documentOptions(flags, 'recommend')) };
    setExitCode(await recommend(options, ports));
  });
};

const replayExamples = `Examples:
  kubectl podexit web-0 --record exit.ndjson           record an exit
  kubectl podexit replay exit.ndjson                   show it again
  kubectl podexit replay exit.ndjson -o html > a.html  in another format
  kubectl podexit replay rollout.ndjson web-1          one pod of a rollout
  kubectl podexit replay recordings/                   list a folder, each with its result
`;

const replayFlags = {
  'Output:': {
    ...outputFlags['Output:'],
    '--logs': "show the containers' log lines (the default)",
    '--no-logs': 'leave them out',
  },
  'Pipelines:': {
    ...pipelineFlags['Pipelines:'],
    '--as-live': 'print the lines in the order in which they became known',
    '-v, --v <level>': 'show evidence, phases and assumptions',
  },
};

export const addReplay: AddCommand = (program, ports, setExitCode) => {
  const about = 'show a recorded run again, or one pod of it';
  const replay = newCommand(program, 'replay <file> [pod]', about, replayExamples, replayFlags);
  replay.action(async (file: string, pod: string | undefined, flags: FlagsOf<typeof replayFlags>) => {
    const { replayFile, listRecordings } = await import('../run/recorded-run.ts');
    const output = await outputOptions({ ...flags, logs: flags.logs !== false }, false);
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
      if (flags.output !== undefined || flags.report)
        throw usageError('replay', 'the list of a folder has no other format', 'Name one of its recordings.');
      return setExitCode(await listRecordings(file, ports));
    }
    const look = { ...output.look, isSorted: !flags.asLive };
    const options = { file, pod: pod?.replace(/^pods?\//, ''), ...output, look };
    setExitCode(await replayFile(options, ports));
  });
};

const signalsExamples = `Examples:
  kubectl podexit signals nginx                          a program
  kubectl podexit signals postgres:17                    an image
  kubectl podexit signals -- sh -c 'npm start'           a command line, as a container runs it
`;

export const addSignals: AddCommand = (program, ports, setExitCode) => {
  const about = 'what a program does with a stop signal';
  const command = newCommand(program, 'signals <what...>', about, signalsExamples, documentFlags('signals'));
  command.usage('(PROGRAM | IMAGE | -- COMMAND ARGS…) [flags]');
  command.action(async (words: string[], flags: Flags) => {
    const { signals } = await import('../advice/signals-command.ts');
    const isCommand = splitAtDashes(program, words)[1].length > 0;
    setExitCode(await signals({ words, isCommand, ...(await documentOptions(flags, 'signals')) }, ports));
  });
};

const explainExamples = `Examples:
  kubectl podexit explain drain-race      a finding
  kubectl podexit explain findings        all of a kind: outcomes, marks, phases, findings
  kubectl podexit explain                 the kinds
`;

export const addExplain: AddCommand = (program, ports) => {
  const about = 'explain a word of a report, and what to do';
  newCommand(program, 'explain [word]', about, explainExamples).action(async (word: string | undefined) =>
    (await import('../output/text/explain.ts')).explainTopic(word, ports),
  );
};
