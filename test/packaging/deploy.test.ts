/** The manifests for use in a cluster, and the image. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { load, loadAll } from 'js-yaml';
import { namespaceRules, clusterRules } from '../../src/kube/refused.ts';
import { parseTarget } from '../../src/cli/target.ts';
import { buildProgram } from '../../src/cli/main.ts';
import config from '../../package.json' with { type: 'json' };

const text = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}
interface Kube {
  kind: string;
  metadata: { name: string };
  rules?: Rule[];
}

const rbac = loadAll(text('deploy/rbac.yaml')) as Kube[];

/** Expects that the program accepts these arguments. */
async function expectAccepted(words: string[]): Promise<void> {
  const ports = { env: {}, version: '0', stdout: { write: () => {}, isTty: false } } as never;
  const program = await buildProgram(ports, () => {});
  program.action(() => {});
  program.commands.forEach((command) => command.action(() => {}));
  expect(() => program.parse(words, { from: 'user' })).not.toThrow();
}

/** Each permission as a text like `apps/deployments list`. */
const eachOf = (groups: readonly string[], resources: readonly string[], verbs: readonly string[]): string[] =>
  groups.flatMap((group) => resources.flatMap((one) => verbs.map((verb) => `${group}/${one} ${verb}`)));

describe('deploy/rbac.yaml', () => {
  it.each([
    ['in the namespace the Role of the error messages', 'Role', namespaceRules],
    ['in the cluster the ClusterRole of the docs', 'ClusterRole', clusterRules],
  ])('grants exactly %s', (_, kind, wanted) => {
    const granted = rbac.filter((one) => one.kind === kind).flatMap(({ rules = [] }) => rules);
    const plain = granted.flatMap(({ apiGroups, resources, verbs }) => eachOf(apiGroups, resources, verbs));
    const asked = wanted.flatMap(({ group, resources, verbs }) => eachOf([group], resources, verbs));
    expect(plain.sort()).toEqual(asked.sort());
  });

  it('never grants everything, and only reading in the cluster', () => {
    const cluster = rbac.filter(({ kind }) => kind === 'ClusterRole').flatMap(({ rules = [] }) => rules);
    expect(cluster.flatMap(({ verbs }) => verbs).filter((verb) => !['get', 'list', 'watch'].includes(verb))).toEqual(
      [],
    );
    expect(JSON.stringify(rbac)).not.toContain('"*"');
  });
});

describe('deploy/job.yaml', () => {
  interface Job {
    spec: {
      backoffLimit: number;
      template: {
        spec: {
          serviceAccountName: string;
          securityContext: { runAsNonRoot: boolean };
          containers: { args: string[]; securityContext: { readOnlyRootFilesystem: boolean } }[];
        };
      };
    };
  }
  const { spec } = load(text('deploy/job.yaml')) as Job;
  const pod = spec.template.spec;

  it('runs once, not as root, on a read-only file system, with the ServiceAccount of rbac.yaml', () => {
    expect(spec.backoffLimit).toBe(0);
    expect(pod.securityContext.runAsNonRoot).toBe(true);
    expect(pod.containers[0]?.securityContext.readOnlyRootFilesystem).toBe(true);
    expect(rbac.find(({ kind }) => kind === 'ServiceAccount')?.metadata.name).toBe(pod.serviceAccountName);
  });

  it('has valid arguments for a workload', async () => {
    const args = pod.containers[0]?.args ?? [];
    await expectAccepted(args);
    expect(parseTarget([args[0] ?? ''])).toMatchObject({ kind: 'workload' });
  });
});

describe('Dockerfile', () => {
  const last =
    text('Dockerfile')
      .split(/^FROM /m)
      .at(-1) ?? '';

  it('builds a distroless nonroot image that starts the command', () => {
    expect(last).toMatch(/^gcr\.io\/distroless\/nodejs\d+-debian\d+:nonroot/);
    expect(last).toMatch(/^USER nonroot$/m);
    expect(last).toMatch(/^ENTRYPOINT \[.*"\/podexit\/bin\/kubectl-podexit"\]$/m);
  });

  it('copies the files of the package', () => {
    for (const part of ['bin', 'dist', 'schema', 'LICENSE']) expect(last).toContain(`/src/${part}`);
  });
});

it('the image has the same name everywhere, and the version of this program', () => {
  const images = ['deploy/job.yaml', 'docs/ci.md'].flatMap((file) =>
    [...text(file).matchAll(/image: (\S*podexit\S*)/g)].map(([, image]) => image),
  );
  expect(images.length).toBeGreaterThan(2);
  expect(new Set(images)).toEqual(new Set([`registry.example.com/${config.name}:v${config.version}`]));
});

describe('docs/ci.md', () => {
  const blocks = [...text('docs/ci.md').matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);

  it('has four valid YAML examples', () => {
    expect(blocks).toHaveLength(4);
    for (const block of blocks) expect(() => load(block)).not.toThrow();
  });

  it('uses existing commands and flags', async () => {
    const lines = [...text('docs/ci.md').matchAll(/^.*?kubectl[ -]podexit ([^&`|\n]*)/gm)].map(([, words = '']) =>
      words.trim(),
    );
    const commands = lines.filter((words) => words.includes('--') && !words.includes('`'));
    expect(commands.length).toBeGreaterThan(2);
    for (const words of commands) await expectAccepted(words.split(/\s+/));
    const args = blocks.flatMap((block) => [...block.matchAll(/args: \[([^\]]*)\]/g)].map(([, list = '']) => list));
    expect(args.length).toBeGreaterThan(1);
    for (const list of args) await expectAccepted(list.split(/,\s*/));
  });
});
