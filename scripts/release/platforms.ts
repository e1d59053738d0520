/** The platforms for which a single executable is built, and the names of their archives. */
export interface Platform {
  /** In the names of Krew and Go. */
  os: 'linux' | 'darwin' | 'windows';
  arch: 'amd64' | 'arm64';
}

export const platforms: readonly Platform[] = [
  { os: 'linux', arch: 'amd64' },
  { os: 'linux', arch: 'arm64' },
  { os: 'darwin', arch: 'amd64' },
  { os: 'darwin', arch: 'arm64' },
  { os: 'windows', arch: 'amd64' },
];

/** Windows runs only files with the extension .exe (also Krew's rule). */
export const binaryOf = ({ os }: Platform): string => (os === 'windows' ? 'kubectl-podexit.exe' : 'kubectl-podexit');

export const archiveOf = ({ os, arch }: Platform, version: string): string =>
  `kubectl-podexit_v${version}_${os}_${arch}.${os === 'windows' ? 'zip' : 'tar.gz'}`;

export function hostPlatform(platform: string, arch: string): Platform {
  const found = platforms.find(
    (one) =>
      one.os === { linux: 'linux', darwin: 'darwin', win32: 'windows' }[platform] &&
      one.arch === { x64: 'amd64', arm64: 'arm64' }[arch],
  );
  if (!found) throw new Error(`no release is built on ${platform}/${arch}`);
  return found;
}
