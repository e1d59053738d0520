/** Writes what README.md shows and does not say itself: picture, Role, flags. test/readme.test.ts holds it to that. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { clusterRole, roleFor } from '../src/kube/role.ts';
import { flagTables } from './docs/pages.ts';

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
  const granting = withBlock(
    shown,
    'role',
    '/role',
    fenced('yaml', `${roleFor('shop').trimEnd()}\n---\n${clusterRole().trimEnd()}`),
  );
  return withBlock(granting, 'flags', '/flags', flagTables());
}

const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

function withBlock(text: string, open: string, close: string, body: string): string {
  const [before = '', rest = ''] = text.split(`<!-- ${open} -->`);
  const after = rest.slice(rest.indexOf(`<!-- ${close} -->`));
  return `${before}<!-- ${open} -->\n\n${body}\n\n${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(path('README.md'), renderReadme(readFileSync(path('README.md'), 'utf8')));
}
