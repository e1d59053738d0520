/** What a kustomization builds: by kubectl, which contains kustomize. podexit builds nothing itself. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PodexitError } from '../errors.ts';
import type { Ports } from '../run/ports.ts';

/** More than a folder of large custom resource definitions. */
const maxBytes = 64 * 1024 * 1024;

/** No time limit: a kustomization may clone repositories. Throws PodexitError `manifest.kustomize`. */
export async function built(kustomization: string, env: Ports['env']): Promise<Uint8Array> {
  try {
    const { stdout } = await promisify(execFile)(env['KUBECTL_PATH'] || 'kubectl', ['kustomize', '--', kustomization], {
      encoding: 'buffer',
      maxBuffer: maxBytes,
      env,
      windowsHide: true,
    });
    return stdout;
  } catch (error) {
    throw notBuilt(error as NodeJS.ErrnoException & { stderr?: Buffer }, kustomization);
  }
}

function notBuilt({ code, stderr }: NodeJS.ErrnoException & { stderr?: Buffer }, kustomization: string): PodexitError {
  const elsewhere = `Where there is a kubectl: kubectl kustomize ${kustomization} > built.yaml; then name built.yaml with -f`;
  if (code === 'ENOENT') return failed('there is no kubectl on the PATH to build it', elsewhere);
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return failed(`it is larger than ${maxBytes / 1024 / 1024} MB`, '');
  const because = stderr?.toString('utf8').trim().split('\n').at(-1)?.slice(0, 500);
  return failed(because ? `kubectl could not build it: ${because}` : `kubectl could not build it (${code})`, '');
}

const failed = (message: string, hint: string): PodexitError => new PodexitError('manifest.kustomize', message, hint);
