/** The chart deploy/helm: it makes what the manifests in deploy/ contain, and its values change that. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { load, loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { chartTemplate, monitoringTemplate } from '../../scripts/docs/helm-chart.ts';
import { deployed } from './helpers/deployed.ts';

interface Values {
  [name: string]: string | boolean | Values;
}

const templates = ['watch.yaml', 'watch-monitoring.yaml'] as const;
const defaults = load(deployed('helm/values.yaml')) as Values;
const release = { Name: 'podexit-watch', Namespace: 'podexit' };

const lookUp = (values: Values, path: string): unknown =>
  path.split('.').reduce<unknown>((found, name) => (found as Values | undefined)?.[name], values);

/** What helm does with the few actions that these templates use. */
function rendered(template: string, values: Values): string {
  const all: Values = { Values: { ...defaults, ...values }, Release: release };
  const innermost =
    /\{\{ if (not )?\.([\w.]+) \}\}((?:(?!\{\{ if)[^])*?)(?:\{\{ else \}\}((?:(?!\{\{ if)[^])*?))?\{\{ end \}\}/g;
  let text = template.replace(/\{\{ "(.*?)" \}\}/g, (_, braces: string) => (braces === '{{' ? 'OPEN' : 'CLOSE'));
  while (text.includes('{{ if'))
    text = text.replace(innermost, (_, not: string | undefined, path: string, yes: string, no = '') =>
      Boolean(lookUp(all, path)) === (not === undefined) ? yes : (no as string),
    );
  return text
    .replace(/\{\{ \.([\w.]+) \}\}/g, (_, path: string) => String(lookUp(all, path)))
    .replaceAll('OPEN', '{{')
    .replaceAll('CLOSE', '}}');
}

const objectsOf = (values: Values = {}): { kind: string }[] =>
  templates
    .flatMap((name) => loadAll(rendered(deployed(`helm/templates/${name}`), values)) as ({ kind: string } | null)[])
    .filter((one) => one !== null);

const objectOf = (kind: string, values: Values): object => objectsOf(values).find((one) => one.kind === kind) ?? {};

/** The chart tells releases apart, where the manifests have one name. */
const withoutLabels = (objects: unknown): unknown =>
  JSON.parse(JSON.stringify(objects).replace(/app\.kubernetes\.io\/(name|instance)/g, 'label'));

describe('the Helm chart', () => {
  it('is made from the manifests; npm run docs writes it', () => {
    expect(deployed('helm/templates/watch.yaml')).toBe(chartTemplate(deployed('watch.yaml')));
    expect(deployed('helm/templates/watch-monitoring.yaml')).toBe(
      monitoringTemplate(deployed('watch-monitoring.yaml')),
    );
  });

  it('makes the same objects as deploy/watch.yaml by default', () => {
    expect(withoutLabels(objectsOf())).toEqual(withoutLabels(loadAll(deployed('watch.yaml'))));
  });

  it('makes the ServiceMonitor and the alerts too if there is a Prometheus operator', () => {
    const both = [...loadAll(deployed('watch.yaml')), ...loadAll(deployed('watch-monitoring.yaml'))];
    expect(withoutLabels(objectsOf({ monitoring: true }))).toEqual(withoutLabels(both));
  });

  it('makes the alerts only once for several releases', () => {
    const kinds = objectsOf({ monitoring: true, alerts: false }).map(({ kind }) => kind);
    expect(kinds).toContain('ServiceMonitor');
    expect(kinds).not.toContain('PrometheusRule');
  });

  it('may create Events only if it is to post them', () => {
    expect(JSON.stringify(objectsOf())).not.toMatch(/"create"|emit-events/);
    const text = JSON.stringify(objectsOf({ emitEvents: true }));
    expect(text).toContain('{"apiGroups":[""],"resources":["events"],"verbs":["create"]}');
    expect(text).toContain('"args":["watch","-A","--emit-events","-o","ndjson"');
  });

  it('watches one namespace with a Role there', () => {
    const values = { namespace: 'shop' };
    expect(objectOf('Role', values)).toMatchObject({ metadata: { namespace: 'shop' } });
    expect(objectOf('RoleBinding', values)).toMatchObject({
      metadata: { namespace: 'shop' },
      roleRef: { kind: 'Role' },
      subjects: [{ namespace: 'podexit' }],
    });
    expect(objectsOf(values).map(({ kind }) => kind)).not.toContain('ClusterRole');
    expect(JSON.stringify(objectsOf(values))).not.toMatch(/nodes|leases/);
    expect(JSON.stringify(objectOf('Deployment', values))).toContain(
      '"args":["watch","--namespace=shop","-o","ndjson"',
    );
  });

  it('watches a part of the namespaces, and keeps recordings in a volume', () => {
    const records = { claim: 'exits', max: '5Gi', volume: '' };
    const deployment = JSON.stringify(objectOf('Deployment', { shard: '2/5', records, image: 'podexit:1' }));
    expect(deployment).toContain('"args":["watch","-A","--shard=2/5","-o","ndjson"');
    expect(deployment).toContain('"--record-max=5Gi"');
    expect(deployment).toContain('{"name":"exits","persistentVolumeClaim":{"claimName":"exits"}}');
    expect(deployment).toContain('"image":"podexit:1"');
  });

  const helm = spawnSync('helm', ['version'], { stdio: 'ignore' });
  it.skipIf(helm.error !== undefined)('is rendered by helm as here (skipped without helm on the PATH)', () => {
    const folder = fileURLToPath(new URL('../../deploy/helm', import.meta.url));
    const words = ['template', release.Name, folder, '-n', release.Namespace, '--set', 'monitoring=true'];
    const { stdout, stderr } = spawnSync('helm', words, { encoding: 'utf8' });
    expect(stderr).toBe('');
    const sorted = (all: unknown[]): string[] => all.map((one) => JSON.stringify(one)).sort();
    expect(sorted(loadAll(stdout))).toEqual(sorted(objectsOf({ monitoring: true })));
  });
});
