/** The templates of deploy/helm, made from the manifests in deploy/: those are the only place to change anything. */

/** What the chart's values replace, by how it is written in deploy/watch.yaml. */
const replaced: readonly [text: string, by: string][] = [
  [': podexit-watch\n', ': {{ .Release.Name }}\n'],
  // Two releases in one namespace must not share their pods.
  ['app.kubernetes.io/name:', 'app.kubernetes.io/instance:'],
  ['    namespace: podexit\n', '    namespace: {{ .Release.Namespace }}\n'],
  ['ClusterRole', '{{ if .Values.namespace }}Role{{ else }}ClusterRole{{ end }}'],
  ['ghcr.io/OWNER/kubectl-podexit:v0.1.0', '"{{ .Values.image }}"'],
  [
    '[watch, -A, ',
    '[watch, {{ if .Values.namespace }}"--namespace={{ .Values.namespace }}"{{ else }}-A{{ end }}, SHARD',
  ],
  ['SHARD', '{{ if .Values.shard }}"--shard={{ .Values.shard }}", {{ end }}'],
  ['--record-max=1Gi', '"--record-max={{ .Values.records.max }}"'],
  [
    'emptyDir:\n            sizeLimit: 1200Mi',
    '{{ if .Values.records.claim }}persistentVolumeClaim:\n            claimName: {{ .Values.records.claim }}{{ else }}emptyDir:\n            sizeLimit: {{ .Values.records.volume }}{{ end }}',
  ],
];

/** The Role and its binding live where the pods are, if the chart watches one namespace. */
const roles = /(kind: \{\{[^\n]*\nmetadata:\n  name: [^\n]*\n)/g;
const inNamespace = '{{ if .Values.namespace }}  namespace: {{ .Values.namespace }}\n{{ end }}';

/** They are about the whole cluster and these names. */
const comments = /^ *#[^\n]*\n/gm;

const generated = '# Made from deploy/ by npm run docs: change that.\n';

/** Throws if deploy/watch.yaml no longer says what a value replaces. */
export function chartTemplate(manifests: string): string {
  let text = manifests.replace(comments, '');
  for (const [from, to] of replaced) {
    if (!text.includes(from)) throw new Error(`deploy/watch.yaml has no ${JSON.stringify(from)}`);
    text = text.replaceAll(from, to);
  }
  return generated + text.replace(roles, `$1${inNamespace}`);
}

/** What Prometheus fills in itself stays as it is. */
export const monitoringTemplate = (manifests: string): string =>
  `${generated}{{ if .Values.monitoring }}\n${named(manifests.replace(/\{\{|\}\}/g, (braces) => `{{ "${braces}" }}`))}{{ end }}\n`;

const named = (text: string): string =>
  text
    .replace(comments, '')
    .replaceAll('  name: podexit-watch\n', '  name: {{ .Release.Name }}\n')
    .replaceAll('app.kubernetes.io/name: podexit-watch', 'app.kubernetes.io/instance: {{ .Release.Name }}')
    .replaceAll('deployment/podexit-watch', 'deployment/{{ .Release.Name }}');
