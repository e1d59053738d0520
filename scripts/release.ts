/**
 * `release build [FOLDER]`: the archive for this machine's platform, its checksum, and its SBOM.
 * `release manifest --repository OWNER/NAME [FOLDER]`: the Krew manifest, from all archives' checksums.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import config from '../package.json' with { type: 'json' };
import { buildExecutable } from './release/executable.ts';
import { renderManifest } from './release/manifest.ts';
import { archiveOf, hostPlatform } from './release/platforms.ts';
import { executableSbom } from './release/sbom.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({ allowPositionals: true, options: { repository: { type: 'string' } } });
const [command, folder = 'release'] = positionals;
const target = resolve(root, folder);

if (command === 'build') await build();
else if (command === 'manifest') await manifest();
else throw new Error('release build [FOLDER] | release manifest --repository OWNER/NAME [FOLDER]');

async function build(): Promise<void> {
  const platform = hostPlatform(process.platform, process.arch);
  const archive = archiveOf(platform, config.version);
  const inside = join(target, 'work', 'archive');
  await rm(join(target, 'work'), { recursive: true, force: true });
  await buildExecutable(root, inside, platform);
  // bsdtar, which Windows has, makes a zip of -a and the name's ending.
  const flags = platform.os === 'windows' ? ['-a', '-cf'] : ['-czf'];
  await promisify(execFile)('tar', [...flags, join(target, archive), '-C', inside, ...(await readdir(inside))]);
  const sum = createHash('sha256')
    .update(await readFile(join(target, archive)))
    .digest('hex');
  await writeFile(join(target, `${archive}.sha256`), `${sum}  ${archive}\n`);
  const sbom = await executableSbom(root, process.execPath, process.versions.node);
  await writeFile(join(target, `${archive}.cdx.json`), sbom);
  await rm(join(target, 'work'), { recursive: true, force: true });
  console.log(join(target, archive));
}

async function manifest(): Promise<void> {
  if (values.repository === undefined) throw new Error('--repository OWNER/NAME is missing');
  await mkdir(target, { recursive: true });
  const sums = (await readdir(target)).filter((file) => file.endsWith('.sha256'));
  const lines = await Promise.all(sums.map((file) => readFile(join(target, file), 'utf8')));
  const sha256: Record<string, string> = {};
  for (const line of lines) {
    const [sum = '', name = ''] = line.trim().split(/\s+/);
    sha256[name] = sum;
  }
  const template = await readFile(join(root, '.krew.yaml'), 'utf8');
  const text = renderManifest(template.replace(/^#.*\n/, ''), {
    version: config.version,
    repository: values.repository,
    sha256,
  });
  await writeFile(join(target, 'podexit.yaml'), text);
  console.log(join(target, 'podexit.yaml'));
}
