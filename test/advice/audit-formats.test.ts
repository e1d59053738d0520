/** `why` from one audit log in the forms in which clusters and log collectors export it: each says the same. */
import { describe, expect, it } from 'vitest';
import { scenarioFile } from '../helpers/recordings.ts';
import { auditExports } from './helpers/audit-exports.ts';
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

it.each(Object.keys(auditExports))('%s', async (name) =>
  expect(answerOf(await whyFromText(auditExports[name]?.(events) ?? ''))).toEqual(await plain),
);

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
