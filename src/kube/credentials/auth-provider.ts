import type { RequestOptions } from 'node:https';
import { PodexitError } from '../../errors.ts';
import type { UserEntry } from '../kubeconfig/parse.ts';
import type { ResolveOptions, CredentialSource } from './credentials.ts';

type Provider = NonNullable<UserEntry['authProvider']>;

/** client-node's class for each provider; the whole library is six times as large. */
const providers: Readonly<Record<string, () => Promise<Authenticator>>> = {
  oidc: async () => new (await import('@kubernetes/client-node/dist/oidc_auth.js')).OpenIDConnectAuth(),
  gcp: async () => new (await import('@kubernetes/client-node/dist/gcp_auth.js')).GoogleCloudPlatformAuth(),
  azure: async () => new (await import('@kubernetes/client-node/dist/azure_auth.js')).AzureAuth(),
};

interface Authenticator {
  applyAuthentication(user: { name: string; authProvider: Provider }, options: RequestOptions): Promise<void>;
}

/** OIDC and the other auth-providers that preceded exec plugins. Throws PodexitError `auth.provider-failed`. */
export function providerSource(provider: Provider, { redactor }: ResolveOptions): CredentialSource {
  Object.values(provider.config).forEach((value) => redactor.hide(typeof value === 'string' ? value : undefined));
  // A copy, since the library stores renewed tokens in the entry.
  const newState = () => ({ authenticator: providers[provider.name]?.(), entry: structuredClone(provider) });
  let state = newState();
  return {
    async getCredential() {
      const options = { headers: {} as Record<string, unknown> };
      try {
        const user = { name: 'user', authProvider: state.entry };
        await (await state.authenticator)?.applyAuthentication(user, options as RequestOptions);
      } catch {
        throw noCredentials(provider.name);
      }
      const value = options.headers['Authorization'];
      if (typeof value !== 'string') throw noCredentials(provider.name);
      return { authorization: value };
    },
    forget() {
      state = newState();
      return true;
    },
  };
}

function noCredentials(name: string): PodexitError {
  return new PodexitError(
    'auth.provider-failed',
    `the auth-provider "${name}" of the kubeconfig gave no credentials`,
    'Log in again with the tool that wrote this kubeconfig; auth-providers are deprecated, and exec plugins take their place.',
  );
}
