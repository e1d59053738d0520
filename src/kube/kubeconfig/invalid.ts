import { PodexitError } from '../../errors.ts';

/** A kubeconfig that cannot be read. `what` echoes nothing of the file: it may hold credentials. */
export function invalid(file: string, what: string): PodexitError {
  return new PodexitError(
    'kubeconfig.invalid',
    `the kubeconfig ${file} cannot be read: ${what}`,
    'Correct the file; `kubectl config view` shows what kubectl makes of it.',
  );
}
