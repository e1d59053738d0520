/** A kubeconfig as its file has it, read into maps; every path in it is absolute (parse.ts). */
export interface Kubeconfig {
  currentContext?: string;
  clusters: ReadonlyMap<string, ClusterEntry>;
  users: ReadonlyMap<string, UserEntry>;
  contexts: ReadonlyMap<string, ContextEntry>;
}

export interface ClusterEntry {
  server?: string;
  certificateAuthority?: string;
  /** Base64, as in the file. */
  certificateAuthorityData?: string;
  insecureSkipTlsVerify?: boolean;
  tlsServerName?: string;
  proxyUrl?: string;
  disableCompression?: boolean;
  /** By name; `client.authentication.k8s.io/exec` is handed to exec plugins. */
  extensions?: ReadonlyMap<string, unknown>;
}

export interface UserEntry {
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  clientCertificate?: string;
  clientCertificateData?: string;
  clientKey?: string;
  clientKeyData?: string;
  exec?: ExecEntry;
  authProvider?: { name: string; config: Readonly<Record<string, unknown>> };
  impersonate?: Impersonation;
}

export interface ExecEntry {
  apiVersion: string;
  command: string;
  args: readonly string[];
  env: readonly { name: string; value: string }[];
  installHint?: string;
  provideClusterInfo: boolean;
  interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  /** The directory of the kubeconfig: a command with a slash is relative to it, as in kubectl. */
  directory: string;
}

export interface Impersonation {
  user?: string;
  uid?: string;
  groups: readonly string[];
  extra: readonly (readonly [key: string, value: string])[];
}

export interface ContextEntry {
  cluster?: string;
  user?: string;
  namespace?: string;
}
