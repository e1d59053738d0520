/** Writes what README.md shows and does not say itself: the picture and the Role. test/readme.test.ts holds it to that. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { roleFor } from '../src/cluster/role.ts';

const path = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** README.md with every generated block as it should be. */
export function renderReadme(readme: string): string {
  const picture = readFileSync(path('test/goldens/graceful-exit.txt'), 'utf8').trimEnd();
  const shown = withBlock(
    readme,
    'picture: graceful-exit',
    '/picture',
    fenced('', `$ kubectl podexit checkout-754699c75f-5qlrp -n graceful-exit\n${picture}`),
  );
  return withBlock(shown, 'role', '/role', fenced('yaml', `${roleFor('shop').trimEnd()}\n---\n${nodeRole.trimEnd()}`));
}

/** Optional: the node's own lanes are cluster-wide. */
const nodeRole = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: podexit-nodes
rules:
  - apiGroups: [""]
    resources: ["nodes", "namespaces", "events"]
    verbs: ["get", "list", "watch"]
  - apiGroups: ["coordination.k8s.io"]
    resources: ["leases"]
    verbs: ["get", "list", "watch"]
`;

const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

function withBlock(text: string, open: string, close: string, body: string): string {
  const [before = '', rest = ''] = text.split(`<!-- ${open} -->`);
  const after = rest.slice(rest.indexOf(`<!-- ${close} -->`));
  return `${before}<!-- ${open} -->\n\n${body}\n\n${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(path('README.md'), renderReadme(readFileSync(path('README.md'), 'utf8')));
}
