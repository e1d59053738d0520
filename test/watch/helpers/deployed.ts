/** The files of deploy/ for watch. */
import { readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';

export const deployed = (file: string): string =>
  readFileSync(new URL(`../../../deploy/${file}`, import.meta.url), 'utf8');

interface Rules {
  groups: { rules: { alert?: string; expr: string }[] }[];
}

/** What the PrometheusRule of deploy/watch-monitoring.yaml contains: a file of rules for Prometheus. */
export const alertRules: Rules = (
  loadAll(deployed('watch-monitoring.yaml')) as { kind: string; spec: Rules }[]
).flatMap(({ kind, spec }) => (kind === 'PrometheusRule' ? [spec] : []))[0] ?? { groups: [] };

/** What the dashboard asks Prometheus for, by the title of each panel. */
export const panels: readonly { title: string; targets: { expr: string }[] }[] = (
  JSON.parse(deployed('watch-dashboard.json')) as { panels: { title: string; targets: { expr: string }[] }[] }
).panels;
