/** The SBOM of an executable (CycloneDX): the packages of the lock file, as npm lists them, and its Node. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { promisify } from 'node:util';

interface Sbom {
  components: object[];
}

/** `node`: the file of the Node that the executable is a copy of. */
export async function executableSbom(root: string, node: string, version: string): Promise<string> {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  // `npm run` sets the path of npm; Windows cannot start `npm` without a shell.
  const npm = process.env['npm_execpath'];
  const [command, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]];
  const { stdout } = await promisify(execFile)(command, [...first, ...words], { cwd: root, maxBuffer: 64 * 2 ** 20 });
  const sbom = JSON.parse(stdout) as Sbom;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(node)) hash.update(chunk as Buffer);
  sbom.components.push({
    'bom-ref': `node@${version}`,
    type: 'platform',
    name: 'node',
    version,
    purl: `pkg:generic/node@${version}`,
    hashes: [{ alg: 'SHA-256', content: hash.digest('hex') }],
  });
  return `${JSON.stringify(sbom, null, 2)}\n`;
}
