/** Checks the manifest by Krew's rules (krew: internal/index/validation, cmd/validate-krew-manifest). */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { load } from 'js-yaml';
import { renderManifest } from '../../scripts/release/manifest.ts';
import { archiveOf, binaryOf, hostPlatform, platforms } from '../../scripts/release/platforms.ts';

const root = new URL('../../', import.meta.url);
const template = readFileSync(new URL('.krew.yaml', root), 'utf8');
const sums = Object.fromEntries(platforms.map((one, index) => [archiveOf(one, '1.2.3'), String(index).repeat(64)]));
const text = renderManifest(template, { version: '1.2.3', repository: 'some-one/some-thing', sha256: sums });

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: {
    version: string;
    homepage: string;
    shortDescription: string;
    description: string;
    caveats: string;
    platforms: {
      selector: { matchLabels: Record<string, string> };
      uri: string;
      sha256: string;
      bin: string;
      files: { from: string; to: string }[];
    }[];
  };
}
const manifest = load(text) as Manifest;

describe('the manifest', () => {
  it('is a Plugin named podexit, as kubectl calls it', () => {
    expect(manifest).toMatchObject({
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      metadata: { name: 'podexit' },
    });
    expect(manifest.metadata.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(manifest.metadata.name).not.toMatch(/^kube/);
  });

  it('has a semantic version with a v, and a homepage', () => {
    expect(manifest.spec.version).toMatch(/^v\d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(manifest.spec.homepage).toBe('https://github.com/some-one/some-thing');
  });

  it('has a short description of one line, and a description with lines of at most 80, without usage or flags', () => {
    const { shortDescription, description, caveats } = manifest.spec;
    expect(shortDescription).toMatch(/^[^\n.]{1,50}$/);
    for (const line of [...description.split('\n'), ...caveats.split('\n')])
      expect(line.length).toBeLessThanOrEqual(80);
    expect(description).not.toMatch(/(^|\s)--?\w|usage:|kubectl podexit/i);
  });

  it('selects each platform once, only by os and arch', () => {
    const labels = manifest.spec.platforms.map(({ selector }) => selector.matchLabels);
    for (const one of labels) expect(Object.keys(one).sort()).toEqual(['arch', 'os']);
    expect(new Set(labels.map(({ os, arch }) => `${os}/${arch}`)).size).toBe(labels.length);
    expect(labels.map(({ os }) => os)).toEqual(expect.arrayContaining(['linux', 'darwin', 'windows']));
  });

  it('has archives that Krew can unpack, with their checksums', () => {
    for (const { uri, sha256 } of manifest.spec.platforms) {
      expect(uri).toMatch(/^https:\/\/\S+\/v1\.2\.3\/\S+\.(tar\.gz|zip)$/);
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(sums[uri.split('/').at(-1) ?? '']).toBe(sha256);
    }
  });

  it('starts an .exe only on Windows, and a file inside the unpacked folder', () => {
    for (const { selector, bin } of manifest.spec.platforms) {
      expect(bin.endsWith('.exe')).toBe(selector.matchLabels['os'] === 'windows');
      expect(bin).not.toMatch(/^\/|\.\./);
    }
  });

  it('installs all files of the archive, including LICENSE', () => {
    for (const { files } of manifest.spec.platforms) expect(files).toEqual([{ from: '*', to: '.' }]);
  });

  it('has no placeholder left', () => expect(text).not.toContain('{{'));
});

it('fails if an archive was not built', () => {
  const release = { version: '1.2.3', repository: 'a/b', sha256: {} };
  expect(() => renderManifest(template, release)).toThrow(/was not built/);
});

it.each([
  ['linux', 'x64', 'linux/amd64', 'kubectl-podexit'],
  ['darwin', 'arm64', 'darwin/arm64', 'kubectl-podexit'],
  ['win32', 'x64', 'windows/amd64', 'kubectl-podexit.exe'],
])('Node on %s %s is %s, and starts %s', (platform, arch, name, binary) => {
  const found = hostPlatform(platform, arch);
  expect(`${found.os}/${found.arch}`).toBe(name);
  expect(binaryOf(found)).toBe(binary);
});
