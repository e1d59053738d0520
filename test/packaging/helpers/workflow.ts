/** The workflows of .github/, as GitHub reads them. */
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';

interface Step {
  name?: string;
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

export interface Job {
  needs?: string | string[];
  environment?: string;
  permissions?: Record<string, string>;
  steps: Step[];
}

export const workflowOf = (name: string): { permissions: object; jobs: Record<string, Job> } =>
  load(readFileSync(new URL(`../../../.github/workflows/${name}.yml`, import.meta.url), 'utf8')) as ReturnType<
    typeof workflowOf
  >;

/** The script of a step. */
export function stepOf(workflow: string, job: string, name: string): string {
  const run = workflowOf(workflow).jobs[job]?.steps.find((step) => step.name === name)?.run;
  if (run === undefined) throw new Error(`${workflow}.yml has no step "${name}" in ${job}`);
  return run;
}
