/** What a pipeline asks for beside the report: gates, GitHub Actions, OpenTelemetry. */
import type { Command } from 'commander';
import type { Publish } from '../run/publish.ts';
import { collect } from './connection-flags.ts';
import type { GateFlags } from './gate-flags.ts';
import { oneOf } from './one-of.ts';

export interface PipelineFlags extends GateFlags {
  /** --no-github: false; neither: undefined, and the environment decides. */
  github?: boolean;
  otlp?: string;
}

export const otlpTimes = ['always', 'auto', 'never'] as const;

export function addPipelineFlags(command: Command): Command {
  return command
    .optionsGroup('Pipelines:')
    .option('--max-duration <duration>', 'gate: at most this long from the request until the pod is gone')
    .option('--max-grace-used <percent>', 'gate: no container used more of its grace period than this: 80%')
    .option('--min-drain-lead <duration>', 'gate: SIGTERM came at least this long after removal from the Services')
    .option(
      '--fail-on <code,…>',
      'gate: none of these findings (kubectl podexit explain findings); may be repeated',
      collect,
    )
    .option('--warn-only', 'exit 0 where it would be 2 or 5')
    .option('--no-warn-only', 'override warn-only from a config file')
    .option('--config <file>', 'read gates from this file; default: .podexit.yaml, if it exists')
    .option('--no-config', 'read no config file')
    .option('--github', 'annotations and a step summary for GitHub Actions; default where GITHUB_ACTIONS is true')
    .option('--no-github', 'disable GitHub annotations and the step summary')
    .option(
      '--otlp <when>',
      'send an OpenTelemetry trace: always, never, or auto (if OTEL_EXPORTER_OTLP_ENDPOINT is set)',
    );
}

export const publishFrom = ({ github, otlp = 'never' }: PipelineFlags): Publish => ({
  ...(github === undefined ? {} : { github }),
  otlp: oneOf(otlp, otlpTimes, '--otlp'),
});
