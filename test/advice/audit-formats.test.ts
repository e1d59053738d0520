/** `why` from one audit log in the forms in which clusters and log collectors export it: each says the same. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { casesIn } from '../helpers/case-file.ts';
import { scenarioFile } from '../helpers/recordings.ts';
import { auditLogOf, whyFrom, whyReportFrom, type AuditReport } from './helpers/audit-log.ts';

const { lines, pod, namespace } = auditLogOf(scenarioFile('sigkill-after-grace'));
const events = lines
  .filter((line) => line.startsWith('{'))
  .map((line, index) => line.replace('{', `{"auditID":"id-${index}",`));

const whyFromText = (content: string | Buffer) => whyReportFrom(content, pod, namespace);
const isNotRead = (text: string): boolean => /lines? says?: not JSON/.test(text);
const answerOf = ({ outcome, summary, trigger, deletedBy, moments, cannotTell }: AuditReport) => {
  return { outcome, summary, trigger, deletedBy, moments, cannotTell: cannotTell.filter((one) => !isNotRead(one)) };
};
const plain = whyFromText(events.join('\n')).then(answerOf);

/** A form as text: see the file. */
interface Form {
  first?: string;
  line?: string;
  around?: string;
  each?: string;
  isPretty?: true;
}

function exported({ first, line, around = '', each = '', isPretty }: Form): string {
  const fill = (template: string) => (event: string) =>
    template.replace(/EVENT(?!S)|QUOTED|ENDED|FIELDS|CSV/, (word) => {
      if (word === 'EVENT') return event;
      if (word === 'FIELDS') return event.slice(1, -1);
      if (word === 'CSV') return `"${event.replaceAll('"', '""')}"`;
      return JSON.stringify(word === 'ENDED' ? `${event}\n` : event);
    });
  if (line !== undefined) return [...(first === undefined ? [] : [first]), ...events.map(fill(line))].join('\n');
  const document = around.replace('EVENTS', () => events.map(fill(each)).join());
  return isPretty ? pretty(JSON.parse(document)) : document;
}

const forms = casesIn<Form>(new URL('audit-formats.yaml', import.meta.url), [
  ...(['first', 'line', 'around', 'each', 'isPretty'] as const),
]);

it.each(forms)('%s', async (_, form) => expect(answerOf(await whyFromText(exported(form)))).toEqual(await plain));

const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2);
const twoParts = [`${events.slice(0, 9).join('\n')}\n`, events.slice(9).join('\n')];

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

it.each<[string, string | Buffer]>([
  ['CRLF, with a byte order mark', `\ufeff${events.join('\r\n')}`],
  ['v1beta1', events.map((event) => event.replace('audit.k8s.io/v1', 'audit.k8s.io/v1beta1')).join('\n')],
  ['gzip in two members', Buffer.concat(twoParts.map((part) => gzipSync(part)))],
  ['Zstandard in two frames', Buffer.concat(twoParts.map(zstd))],
  ['UTF-16, as PowerShell writes it', Buffer.from(`\ufeff${events.join('\r\n')}`, 'utf16le')],
  ['pretty-printed', events.map((event) => pretty(JSON.parse(event))).join('\n')],
  [
    'AKS, event hub, with quotes as .NET escapes them',
    JSON.stringify({ records: events.map((log) => ({ properties: { log } })) }).replaceAll('\\"', '\\u0022'),
  ],
  [
    'fluentd around a log of Docker',
    events.map((log) => JSON.stringify({ message: JSON.stringify({ log, stream: 'stdout' }), tag: 'kube' })).join('\n'),
  ],
  ['two exports of the same', [...events, ...events].join('\n')],
])('%s', async (_, log) => expect(answerOf(await whyFromText(log))).toEqual(await plain));

it('Google Cloud, which does not log when a request was answered: who deleted the pod, and from when on', async () => {
  const entries = events.flatMap((text) => {
    const { verb, user, userAgent, sourceIPs, objectRef, requestReceivedTimestamp } = JSON.parse(text) as {
      verb: string;
      user?: { username: string };
      userAgent: string;
      sourceIPs: string[];
      objectRef: { namespace: string; name: string; resource: string; subresource?: string };
      requestReceivedTimestamp?: string;
    };
    const { resource, subresource, name } = objectRef;
    const path = [resource, name, ...(subresource === undefined ? [] : [subresource])];
    const protoPayload = {
      '@type': 'type.googleapis.com/google.cloud.audit.AuditLog',
      methodName: ['io.k8s.core.v1', resource, subresource, verb].filter((one) => one !== undefined).join('.'),
      resourceName: ['core/v1/namespaces', objectRef.namespace, ...path].join('/'),
      authenticationInfo: { principalEmail: user?.username },
      requestMetadata: { callerIp: sourceIPs?.[0], callerSuppliedUserAgent: userAgent },
    };
    return user ? [{ insertId: 'x', timestamp: requestReceivedTimestamp, protoPayload }] : [];
  });
  const report = await whyFromText(JSON.stringify(entries));
  const { deletedBy, moments } = await plain;
  expect(report).toMatchObject({ outcome: 'unknown', deletedBy });
  const [accepted] = report.moments;
  const [known] = moments;
  expect(accepted).toMatchObject({ name: 'accepted', earliest: known?.earliest });
  expect(Date.parse(accepted?.latest ?? '')).toBeGreaterThan(Date.parse(known?.latest ?? ''));
  expect(report.cannotTell).toContain('how its containers exited: the log does not say when requests were answered');
});

describe('what a client wrote into an object is no event of the log', () => {
  const forged = JSON.stringify({
    ...{ kind: 'Event', apiVersion: 'audit.k8s.io/v1', stage: 'ResponseComplete', verb: 'delete', auditID: 'forged' },
    ...{ objectRef: { resource: 'pods', name: pod, namespace }, responseStatus: { code: 200 } },
    ...{
      user: { username: 'forged' },
      requestReceivedTimestamp: '2026-01-01T00:00:00Z',
      stageTimestamp: '2026-01-01T00:00:00Z',
    },
  });
  const around = (object: object): string =>
    JSON.stringify({
      ...{ kind: 'Event', apiVersion: 'audit.k8s.io/v1', stage: 'ResponseComplete', verb: 'create' },
      ...{
        objectRef: { resource: 'configmaps', name: pod, namespace },
        requestObject: object,
        responseStatus: { code: 201 },
      },
    });
  const inAnnotation = around({ metadata: { annotations: { a: forged } }, data: [JSON.parse(forged)] });
  it.each([
    ['in an object', inAnnotation],
    ['in an object of a broken line', inAnnotation.slice(0, -2)],
    ['in the rest of a line that lost its beginning', inAnnotation.slice(90)],
    ['in the rest of a line of a log', `cp1 ${inAnnotation.slice(90)}`],
  ])('%s', async (_title, line) => {
    const { deletedBy, moments } = await whyFromText([line, ...events].join('\n'));
    expect({ deletedBy, moments }).toEqual({ deletedBy: (await plain).deletedBy, moments: (await plain).moments });
  });
});

it('a document that breaks off is said to', async () => {
  const document = JSON.stringify(
    events.map((text) => JSON.parse(text) as unknown),
    undefined,
    2,
  );
  const { code, stderr } = await whyFrom(document.slice(0, -20), pod, namespace, ['--kubeconfig', '/nowhere']);
  expect(code).toBe(1);
  expect(stderr).toContain('the audit log cannot tell what 1 file says: the rest, after the place where it breaks off');
});

it('of documents that follow each other in one line none is read, rather than the first', async () => {
  const { cannotTell } = await whyFromText([...events, events.join('')].join('\n'));
  expect(cannotTell).toContain('what 1 line says: not JSON');
});

it('a log that ends while the pod terminates says nothing of a removal', async () => {
  const toDelete = events.slice(0, events.findIndex((text) => text.includes('"verb":"delete"')) + 1);
  const { outcome, cannotTell } = await whyFromText(toDelete.join('\n'));
  expect(outcome).toBe('unknown');
  expect(cannotTell.join('\n')).not.toMatch(/removed before/);
});
