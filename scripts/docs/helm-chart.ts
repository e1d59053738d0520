/** The templates of deploy/helm, made from the manifests in deploy/: those are the only place to change anything. */

const ofNodes = `  - apiGroups: ['']
    resources: [nodes]
    verbs: [list, watch]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [list, watch]
`;

const createEvents =
  "{{ if .Values.emitEvents }}  - apiGroups: ['']\n    resources: [events]\n    verbs: [create]\n{{ end }}";

/** What the chart's values replace, by how it is written in deploy/watch.yaml. */
const replaced: readonly [text: string, by: string][] = [
  [': podexit-watch\n', ': {{ .Release.Name }}\n'],
  // Two releases in one namespace must not share their pods.
  ['app.kubernetes.io/name:', 'app.kubernetes.io/instance:'],
  ['    namespace: podexit\n', '    namespace: {{ .Release.Namespace }}\n'],
  // A Role cannot grant what is in no namespace, or in another one.
  [ofNodes, `{{ if not .Values.namespace }}${ofNodes}{{ end }}${createEvents}`],
  ['ClusterRole', '{{ if .Values.namespace }}Role{{ else }}ClusterRole{{ end }}'],
  ['ghcr.io/OWNER/kubectl-podexit:v0.1.0', '"{{ .Values.image }}"'],
  [
    '[watch, -A, ',
    '[watch, {{ if .Values.namespace }}"--namespace={{ .Values.namespace }}"{{ else }}-A{{ end }}, SHARD',
  ],
  [
    'SHARD',
    '{{ if .Values.shard }}"--shard={{ .Values.shard }}", {{ end }}{{ if .Values.emitEvents }}--emit-events, {{ end }}',
  ],
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
export function monitoringTemplate(manifests: string): string {
  const [monitor = '', rules = ''] = manifests
    .replace(/\{\{|\}\}/g, (braces) => `{{ "${braces}" }}`)
    .split('---\n')
    .map(named);
  return `${generated}{{ if .Values.monitoring }}\n${monitor}{{ if .Values.alerts }}---\n${rules}{{ end }}{{ end }}\n`;
}

const named = (text: string): string =>
  text
    .replace(comments, '')
    .replaceAll('  name: podexit-watch\n', '  name: {{ .Release.Name }}\n')
    .replaceAll('app.kubernetes.io/name: podexit-watch', 'app.kubernetes.io/instance: {{ .Release.Name }}')
    .replaceAll('deployment/podexit-watch', 'deployment/{{ .Release.Name }}');
