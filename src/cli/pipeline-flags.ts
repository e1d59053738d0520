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
    .option(
      '--max-duration <duration>',
      'gate: the exit took no longer than this, from the request until the pod is gone',
    )
    .option('--max-grace-used <percent>', 'gate: no container used more of the grace than this, e.g. 80%')
    .option('--min-drain-lead <duration>', 'gate: the stop signal came at least this long after the pod was unrouted')
    .option('--fail-on <code,…>', 'gate: none of these findings; may be repeated', collect)
    .option('--warn-only', 'exit 0 where the outcome or a gate would make it 2')
    .option('--no-warn-only', 'the opposite, where a config file says warn-only')
    .option('--config <file>', 'gates from this file; default: .podexit.yaml, where there is one')
    .option('--no-config', 'read no config file')
    .option('--github', 'annotations and a step summary for GitHub Actions; on by itself where GITHUB_ACTIONS is true')
    .option('--no-github', 'none of that')
    .option(
      '--otlp <when>',
      'send the exit as an OpenTelemetry trace; auto: only where OTEL_EXPORTER_OTLP_ENDPOINT is set',
    );
}

export const publishFrom = ({ github, otlp = 'never' }: PipelineFlags): Publish => ({
  ...(github === undefined ? {} : { github }),
  otlp: oneOf(otlp, otlpTimes, '--otlp'),
});
