/** The cluster of KUBECONFIG, for the end-to-end tests. */
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

export const isWanted = process.env['PODEXIT_E2E'] === '1';
/** Must have a shell, for some tests also httpd. */
export const image = process.env['PODEXIT_E2E_IMAGE'] ?? 'busybox';
export const pull = process.env['PODEXIT_E2E_PULL'] ?? 'IfNotPresent';
/** Of this test file. */
export const newNamespace = (): string => `podexit-e2e-${randomBytes(4).toString('hex')}`;
/** For the built command. */
export const environment = { KUBECONFIG: process.env['KUBECONFIG'] ?? '', PATH: process.env['PATH'] ?? '' };

/** With the image and its pull policy. */
export const readManifest = (file: URL): string =>
  readFileSync(file, 'utf8').replaceAll('${IMAGE}', image).replaceAll('${PULL}', pull);

/** Runs kubectl and waits for it, without other work meanwhile. */
export const kubectl = (words: readonly string[], input = ''): string =>
  execFileSync('kubectl', words, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] }).trim();

export const kubectlMeanwhile = async (words: readonly string[]): Promise<string> =>
  (await promisify(execFile)('kubectl', words)).stdout.trim();

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
