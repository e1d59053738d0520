/** `watch`: every exit of a namespace or a cluster, until it is stopped. */
import { sendsTraces } from '../output/publish.ts';
import type { MetricsAddress } from '../watch/metrics.ts';
import type { WatchFormat } from '../watch/view.ts';
import type { Shard } from '../watch/watch.ts';
import type { RecordingFolder } from '../watch/destinations.ts';
import { newCommand, type AddCommand } from './command.ts';
import { clusterFlags, lookFlags, type FlagsOf } from './flags.ts';
import { clusterOptions, lookFrom } from './options.ts';
import { publishFrom } from './pipeline-flags.ts';
import { parseAnyTarget } from './target.ts';
import { badValue, oneOf, usageError } from './usage.ts';
import { shownCommand } from './words.ts';

const examples = `Examples:
  kubectl podexit watch -n shop                     every exit of a namespace
  kubectl podexit watch -A                          of the whole cluster
  kubectl podexit watch deployment/checkout         of one workload
  kubectl podexit watch -A -o ndjson                for programs

It runs until it is stopped: Ctrl-C and SIGTERM print a summary and end it with 0.
`;

const watchFlags = {
  'Pods:': {
    '-A, --all-namespaces': 'the pods of all namespaces',
    '-l, --selector <labels>': 'only pods with these labels',
    '--field-selector <fields>': 'only pods with these fields',
    '--shard <index/count>': 'only this part of the namespaces, 2/5: for clusters too large for one process',
  },
  'For other programs:': {
    '--metrics <address>': 'serve Prometheus metrics, /healthz and /readyz at [HOST:]PORT',
    '--record-dir <folder>': 'record each exit in this folder, for replay, why --from and recommend',
    '--record-max <size>': 'most that the recordings take (100Mi; default: 1Gi); the oldest go',
    '--otlp <when>':
      'send each exit as an OpenTelemetry trace: always, never, or auto (if OTEL_EXPORTER_OTLP_ENDPOINT is set)',
    '--emit-events': 'post an Event on the workload for each exit that was not graceful',
  },
  'Output:': {
    '-o, --output <format>': 'lines, ndjson or json; default: a table at a terminal, else lines',
    '--no-logs': "do not follow the logs of terminating pods' containers",
    '--timestamps <kind>': 'local or utc (the default)',
    '--plain': 'for screen readers: lines, without animation or boxes',
    ...lookFlags,
  },
  ...clusterFlags,
};

type WatchFlags = FlagsOf<typeof watchFlags>;

export const addWatch: AddCommand = (program, ports, setExitCode) => {
  const watch = newCommand(program, 'watch [target...]', 'follow every exit, all day', examples, watchFlags);
  watch.usage('[TYPE/NAME | -l SELECTOR] [-n NAMESPACE | -A] [flags]');
  watch.action(async (words: string[], flags: WatchFlags) => {
    const { watchExits } = await import('../watch/watch.ts');
    const look = { ...lookFrom(flags), logs: false };
    const unasked: WatchFormat = ports.stdout.isTty && !look.plain ? 'table' : 'lines';
    const options = {
      command: shownCommand(watch, words),
      ...clusterOptions(flags, ports.version),
      target: targetOf(words, flags),
      allNamespaces: flags.allNamespaces ?? false,
      followLogs: flags.logs !== false,
      format: flags.output === undefined ? unasked : oneOf(flags.output, ['lines', 'ndjson', 'json'] as const, '-o'),
      shard: shardOf(flags.shard),
      metrics: addressOf(flags.metrics),
      recordings: recordingsOf(flags),
      otlp: sendsTraces(publishFrom(flags), ports),
      emitsEvents: flags.emitEvents ?? false,
      look,
    };
    setExitCode(await watchExits(options, ports));
  });
};

/** Throws usageError `target` for words that name nothing, or pods. */
function targetOf(words: readonly string[], flags: WatchFlags) {
  if (words.length === 0 && flags.selector === undefined && flags.fieldSelector === undefined) return undefined;
  const target = parseAnyTarget(words, flags);
  if (target.kind === 'pod' || target.kind === 'pods')
    throw usageError('target', 'watch follows workloads, not single pods', 'Write: kubectl podexit POD --attach');
  if (flags.allNamespaces && target.kind !== 'selector')
    throw usageError('target', '-A and a name cannot be given together', 'Write: kubectl podexit watch -A -l SELECTOR');
  return target;
}

/** `9464`, `127.0.0.1:9464`, `[::1]:9464`. Throws usageError `metrics`. */
function addressOf(text: string | undefined): MetricsAddress | undefined {
  if (text === undefined) return undefined;
  const [, bracketed, plain, port] = /^(?:(?:\[([^\]]+)\]|([^:]*)):)?(\d{1,5})$/.exec(text) ?? [];
  if (port !== undefined && Number(port) <= 65_535)
    return { host: bracketed ?? (plain || undefined), port: Number(port) };
  throw badValue('metrics', '--metrics', text, 'is not [HOST:]PORT', 'Write it like 9464 or 127.0.0.1:9464.');
}

/** Throws usageError `record`. */
function recordingsOf({ recordDir: folder, recordMax = '1Gi' }: WatchFlags): RecordingFolder | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,5})(Ki|Mi|Gi)$/.exec(recordMax) ?? [];
  if (count === undefined)
    throw badValue('record', '--record-max', recordMax, 'is not a size', 'Write it like 100Mi or 1Gi.');
  const unitBytes = 1024 ** (1 + ['Ki', 'Mi', 'Gi'].indexOf(unit));
  return folder === undefined ? undefined : { folder, maxBytes: Number(count) * unitBytes };
}

/** Throws usageError `shard`. */
function shardOf(text: string | undefined): Shard | undefined {
  if (text === undefined) return undefined;
  const [, index, count] = (/^(\d{1,3})\/(\d{1,3})$/.exec(text) ?? []).map(Number);
  if (index !== undefined && count !== undefined && index >= 1 && index <= count) return { index, count };
  throw badValue('shard', '--shard', text, 'is not a part like 2/5', 'The parts are 1/5 to 5/5.');
}
