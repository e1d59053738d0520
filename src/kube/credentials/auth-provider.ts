import { PodexitError } from '../../errors.ts';
import type { UserEntry } from '../kubeconfig/kubeconfig.ts';
import type { ResolveOptions, Source } from './resolve.ts';

/**
 * OIDC and the other auth-providers from before exec plugins: what the client library does right is left to it, and
 * loaded only here, because it is large.
 */
export async function providerSource(
  provider: NonNullable<UserEntry['authProvider']>,
  { redactor }: ResolveOptions,
): Promise<Source> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  Object.values(provider.config).forEach((value) => redactor.hide(typeof value === 'string' ? value : undefined));
  const create = () => {
    const config = new KubeConfig();
    config.loadFromClusterAndUser(
      { name: 'cluster', server: 'https://localhost', skipTLSVerify: false },
      { name: 'user', authProvider: { name: provider.name, config: { ...provider.config } } },
    );
    return config;
  };
  let config = create();
  return {
    async prove() {
      const options: { headers?: Record<string, unknown> } = {};
      try {
        await config.applyToHTTPSOptions(options as Parameters<typeof config.applyToHTTPSOptions>[0]);
      } catch {
        throw notGiven(provider.name);
      }
      const value = options.headers?.['Authorization'];
      return typeof value === 'string' ? { authorization: value } : {};
    },
    forget() {
      config = create();
      return true;
    },
  };
}

function notGiven(name: string): PodexitError {
  return new PodexitError(
    'auth.provider-failed',
    `the auth-provider "${name}" of the kubeconfig gave no credentials`,
    'Log in again with the tool that wrote this kubeconfig; auth-providers are deprecated, and exec plugins take their place.',
  );
}
