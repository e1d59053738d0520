/** What the flags say about the cluster, named as kubectl's; all are optional. */
export interface ConnectOptions {
  kubeconfig?: string;
  context?: string;
  cluster?: string;
  user?: string;
  /** --server */
  server?: string;
  token?: string;
  username?: string;
  password?: string;
  /** --as */
  as?: string;
  asGroup?: readonly string[];
  asUid?: string;
  /** KEY=VALUE each. */
  asUserExtra?: readonly string[];
  certificateAuthority?: string;
  clientCertificate?: string;
  clientKey?: string;
  insecureSkipTlsVerify?: boolean;
  tlsServerName?: string;
  /** 0 or absent: none. Never cuts an open stream. */
  requestTimeoutMs?: number;
  namespace?: string;
  /** `kubectl-podexit/<this> (node)` is how the server's audit log names us. */
  version: string;
}
