/** What the name of an image says. */

/** The last part of a repository, without tag and digest: `nginx` of `docker.io/library/nginx:1.27@sha256:…`. */
export const imageName = (image: string): string =>
  (image.split('@')[0] ?? '').split('/').at(-1)?.split(':')[0]?.toLowerCase() ?? '';

/** Images without a shell and without coreutils: an exec hook has nothing to run there. */
export const isDistroless = (image: string): boolean => /(^|[/.-])distroless([/.-]|$)|^scratch$/.test(image);

/** Programs that serve the main container of a pod: proxies, log shippers, agents. By a container's or an image's name. */
const helpers =
  /^(istio-proxy|proxyv2|linkerd-proxy|envoy|envoy-sidecar|cloud-?sql-proxy|cloudsql-proxy|fluent-?bit|fluentd|filebeat|promtail|vector|vault-agent|consul-dataplane|consul-agent|otel-collector|opentelemetry-collector(-contrib)?|daprd|oauth2-proxy|kube-rbac-proxy|datadog-agent|logrotate|log-shipper|git-sync|config-reloader|prometheus-config-reloader|configmap-reload)$/;

export const isHelper = (name: string, image: string): boolean => helpers.test(name) || helpers.test(imageName(image));
