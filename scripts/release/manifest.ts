/** .krew.yaml with its placeholders filled: the manifest of one release. */
import { archiveOf, binaryOf, platforms } from './platforms.ts';

export interface Release {
  /** Without the leading v. */
  version: string;
  /** `owner/name` of the repository that serves the archives. */
  repository: string;
  /** Lower-case hex, by archive name. */
  sha256: Readonly<Record<string, string>>;
}

/** Throws if an archive of the manifest was not built. */
export function renderManifest(template: string, { version, repository, sha256 }: Release): string {
  const parts = platforms.map((platform) => {
    const archive = archiveOf(platform, version);
    const sum = sha256[archive];
    if (sum === undefined) throw new Error(`${archive} was not built`);
    return [
      '    - selector:',
      '        matchLabels:',
      `          os: ${platform.os}`,
      `          arch: ${platform.arch}`,
      `      uri: https://github.com/${repository}/releases/download/v${version}/${archive}`,
      // Quoted, because a checksum of digits only would be read as a number.
      `      sha256: "${sum}"`,
      `      bin: ${binaryOf(platform)}`,
      '      files:',
      '        - from: "*"',
      '          to: "."',
    ].join('\n');
  });
  return template
    .replaceAll('{{version}}', `v${version}`)
    .replaceAll('{{repository}}', repository)
    .replace(/^ *# {{platforms}}$/m, parts.join('\n'));
}
