/** `why [POD]`: explains a past exit. */
import { addClusterFlags, clusterOptions, collect } from './connection-flags.ts';
import { whileWaiting } from '../run/ports.ts';
import { severalOf, valuesByCommand } from './usage.ts';
import { addDocumentFlags, documentOptions } from './options.ts';
import { parseTarget } from './target.ts';
import { newCommand, type AddCommand, type Flags } from './command.ts';

const examples = `Examples:
  kubectl podexit why -n shop                             the pods that ended recently, worst first
  kubectl podexit why checkout-6677656c54-258qr           what the Events of the last hour say
  kubectl podexit why deployment/checkout                 the worst of its pods that ended
  kubectl podexit why checkout-0 --from recordings/       what a recording says
  zcat audit-*.gz | kubectl podexit why checkout-0 --audit-log -
`;

const failOutcomes = valuesByCommand['why --fail-on'];

export const addWhy: AddCommand = (program, ports, setExitCode) => {
  const why = newCommand(program, 'why [target...]', 'explain an exit that is over', examples)
    .optionsGroup('Sources:')
    .option('--from <folder>', 'recordings of exits; may be repeated', collect)
    .option(
      '--audit-log <file>',
      'audit log as lines, JSON or CSV, as clusters export it, plain, gzip or zstd; or - for standard input; may be repeated',
      collect,
    )
    .optionsGroup('Pipelines:')
    .option('--fail-on <outcome,…>', `exit 5 for these outcomes: ${failOutcomes.join(', ')}`, collect);
  addClusterFlags(addDocumentFlags(why, 'why')).action(async (words: string[], flags: Flags) => {
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
