/** One audit log in the forms in which clusters and log collectors export it. `events`: texts of JSON. */
import { gzipSync } from 'node:zlib';

type Export = (events: readonly string[]) => string | Buffer;

const json = (text: string): unknown => JSON.parse(text);
const perLine =
  (line: (event: string, index: number) => string): Export =>
  (events) =>
    events.map(line).join('\n');
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2);
const plain: Export = (events) => events.join('\n');

/** Zstandard without compression: a frame of raw blocks. */
function zstd(text: string): Buffer {
  const bytes = Buffer.from(text);
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 65_536) {
    const block = bytes.subarray(at, at + 65_536);
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | (at + 65_536 >= bytes.length ? 1 : 0), 0, 3);
    blocks.push(header, block);
  }
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50]), ...blocks]);
}

export const auditExports: Record<string, Export> = {
  'CRLF, with a byte order mark': (events) => `\ufeff${events.join('\r\n')}`,
  v1beta1: perLine((event) => event.replace('audit.k8s.io/v1', 'audit.k8s.io/v1beta1')),
  gzip: (events) => gzipSync(events.join('\n')),
  'gzip in two members': (events) =>
    Buffer.concat([gzipSync(`${events.slice(0, 9).join('\n')}\n`), gzipSync(events.slice(9).join('\n'))]),
  Zstandard: (events) => zstd(events.join('\n')),
  'Zstandard in two frames': (events) =>
    Buffer.concat([zstd(`${events.slice(0, 9).join('\n')}\n`), zstd(events.slice(9).join('\n'))]),
  'UTF-16, as PowerShell writes it': (events) => Buffer.from(`\ufeff${events.join('\r\n')}`, 'utf16le'),
  'pretty-printed': (events) => events.map((event) => pretty(json(event))).join('\n'),
  'a JSON array': (events) => JSON.stringify(events.map(json)),
  'a JSON array with a line for each event': (events) => `[\n${events.join(',\n')}\n]\n`,
  'a JSON array of texts': (events) => JSON.stringify(events),
  'an EventList, as the webhook gets it': (events) =>
    JSON.stringify({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items: events.map(json) }),
  'EKS, filter-log-events': (events) =>
    pretty({
      events: events.map((message) => ({ logStreamName: 'kube-apiserver-audit-1', timestamp: 1, message })),
      searchedLogStreams: [],
    }),
  'EKS, filter-log-events as text': perLine((event) => `EVENTS\t3812\t1732\t${event}\tkube-apiserver-audit-1\t1732`),
  'EKS, tail': perLine((event) => `2026-11-28T02:27:10+00:00 kube-apiserver-audit-1 ${event}`),
  'EKS, Insights as CSV': (events) =>
    `@timestamp,@message\r\n${events.map((one) => `2026-11-28 02:27:10.000,${quoted(one)}`).join('\r\n')}`,
  'EKS, Insights as JSON': (events) =>
    pretty({
      results: events.map((value) => [
        { field: '@timestamp', value: 'x' },
        { field: '@message', value },
      ]),
    }),
  'AKS, kube-audit': perLine((event) =>
    JSON.stringify({
      category: 'kube-audit',
      properties: { log: `${event}\n`, stream: 'stdout', pod: 'kube-apiserver-1' },
    }),
  ),
  'AKS, event hub': (events) =>
    JSON.stringify({ records: events.map((log) => ({ category: 'kube-audit', properties: { log } })) }),
  'AKS, event hub, with quotes as .NET escapes them': (events) =>
    JSON.stringify({ records: events.map((log) => ({ properties: { log } })) }).replaceAll('\\"', '\\u0022'),
  'AKS, AzureDiagnostics as CSV': (events) =>
    `TimeGenerated,Category,log_s,stream_s\n${events.map((one) => `"11/28/2026, 2:27:10.000 AM","kube-audit",${quoted(one)},stdout`).join('\n')}`,
  'OpenShift, node-logs': perLine((event) => `ip-10-0-1-5.ec2.internal ${event}`),
  'OpenShift, forwarded': perLine((event) =>
    JSON.stringify({
      '@timestamp': 'x',
      hostname: 'cp1',
      log_type: 'audit',
      ...(json(event) as object),
      k8s_audit_level: 'Metadata',
    }),
  ),
  fluentd: perLine((log) => JSON.stringify({ log: `${log}\n`, stream: 'stdout', time: '2026-11-28T02:27:10Z' })),
  'fluent-bit, parsed': perLine((event) =>
    JSON.stringify([1732.5, { kubernetes: { host: 'cp1' }, audit: json(event) }]),
  ),
  'fluentd around a log of Docker': perLine((log) =>
    JSON.stringify({ message: JSON.stringify({ log, stream: 'stdout' }), tag: 'kube' }),
  ),
  'a CRI log': perLine((event) => `2026-11-28T02:27:10.257814123Z stdout F ${event}`),
  journald: perLine((event) => `Nov 28 02:27:10 cp1 kube-apiserver[123]: ${event}`),
  'journald, after a line that begins with a bracket': (events) =>
    ['[WARN] rotated', '{', ...events.map((event) => `Nov 28 02:27:10 cp1 kube-apiserver[123]: ${event}`)].join('\n'),
  'journald as JSON': perLine((MESSAGE) => JSON.stringify({ _HOSTNAME: 'cp1', PRIORITY: '6', MESSAGE })),
  syslog: perLine((event) => `<134>1 2026-11-28T02:27:10Z cp1 audit 1 - [meta sequenceId="7" x="y"] ${event}`),
  'between other lines of the API server': perLine(
    (event, index) => `I1128 02:27:10.257 ${index} trace.go:236] "List" {"a"\n${event}`,
  ),
  'Loki, a query': (events) =>
    JSON.stringify({
      status: 'success',
      data: { resultType: 'streams', result: [{ stream: { job: 'audit' }, values: events.map((one) => ['1', one]) }] },
    }),
  'Loki, lines': perLine((line) => JSON.stringify({ labels: { job: 'audit' }, line, timestamp: 'x' })),
  Elasticsearch: (events) =>
    pretty({
      took: 3,
      hits: { total: { value: 9 }, hits: events.map((one) => ({ _index: 'audit', _source: json(one) })) },
    }),
  Splunk: perLine((_raw) => JSON.stringify({ preview: false, result: { _raw, host: 'cp1' } })),
  Datadog: (events) =>
    pretty({
      data: events.map((one) => ({ id: 'x', type: 'log', attributes: { attributes: json(one), tags: ['a:b'] } })),
    }),
  'two exports of the same': (events) => `${plain(events) as string}\n${plain(events) as string}`,
};
