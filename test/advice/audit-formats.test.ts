/** `why` from one audit log in the forms in which clusters and log collectors export it: each says the same. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventsInText } from '../../src/advice/why/nested-events.ts';
import { DocumentSplitter } from '../../src/advice/why/json-documents.ts';
import { recordKeys } from '../../src/advice/why/nested-events.ts';
import type { WhyReport } from '../../src/advice/why/report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { scenarioFile } from '../helpers/recordings.ts';
import { seeded } from '../helpers/seeded.ts';
import { auditExports } from './helpers/audit-exports.ts';
import { auditLogOf } from './helpers/audit-log.ts';

const scratch = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const { lines, pod, namespace } = auditLogOf(scenarioFile('sigkill-after-grace'));
const events = lines
  .filter((line) => line.startsWith('{'))
  .map((line, index) => line.replace('{', `{"auditID":"id-${index}",`));

let count = 0;
async function whyFrom(content: string | Buffer): Promise<WhyReport> {
  const file = join(scratch, `${(count += 1)}.log`);
  writeFileSync(file, content);
  const { code, stdout, stderr } = await runMain(['why', pod, '-n', namespace, '--audit-log', file, '-o', 'json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as WhyReport;
}
const isNotRead = (text: string): boolean => /lines? says?: not JSON/.test(text);
const answerOf = ({ outcome, summary, trigger, deletedBy, moments, cannotTell }: WhyReport) => {
  return { outcome, summary, trigger, deletedBy, moments, cannotTell: cannotTell.filter((one) => !isNotRead(one)) };
};
const plain = whyFrom(events.join('\n')).then(answerOf);

it.each(Object.keys(auditExports))('%s', async (name) =>
  expect(answerOf(await whyFrom(auditExports[name]?.(events) ?? ''))).toEqual(await plain),
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
  const report = await whyFrom(JSON.stringify(entries));
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
    const { deletedBy, moments } = await whyFrom([line, ...events].join('\n'));
    expect({ deletedBy, moments }).toEqual({ deletedBy: (await plain).deletedBy, moments: (await plain).moments });
  });
});

describe('a document that is larger than memory should hold', () => {
  const wrappers: Record<string, (list: unknown[]) => unknown> = {
    'an array': (list) => list,
    'below keys': (list) => ({ kind: 'EventList', metadata: { a: ['x', { b: '"]}' }] }, items: list, end: '\\' }),
    'in texts': (list) => ({
      data: {
        result: [
          { stream: {}, values: list.map((one) => ['1', JSON.stringify(one)]) },
          { stream: {}, values: [] },
        ],
      },
    }),
    'in two arrays': (list) => ({ records: list.slice(0, 20), more: { records: list.slice(20) } }),
  };
  const list = Array.from({ length: 60 }, (_, index) => ({
    ...{ kind: 'Event', apiVersion: 'audit.k8s.io/v1', auditID: `id-${index}`, verb: 'get', stage: 'ResponseComplete' },
    responseObject: { items: Array.from({ length: index % 7 }, () => ({ text: 'a "[{\\" quoted \\' })) },
  }));
  const read = (text: string, random: () => number): { ids: string[]; problems: string[] } => {
    const problems: string[] = [];
    const groupBytes = Math.ceil(random() * 4000);
    const splitter = new DocumentSplitter({
      recordKeys,
      maxBytes: 32_000,
      groupBytes,
      onProblem: (one) => problems.push(one),
    });
    const bytes = Buffer.from(text);
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const size = Math.ceil(random() * 900);
      parts.push(...splitter.push(bytes.subarray(at, at + size)));
      at += size;
    }
    const found = [...parts, ...splitter.end()].flatMap((part) => eventsInText(part.toString()) ?? []);
    return { ids: found.map(({ auditID }) => String(auditID)), problems };
  };

  it.each(Object.keys(wrappers))('%s: has each event once, whatever the sizes of what is read', (name) => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = seeded(seed);
      const text = JSON.stringify(wrappers[name]?.(list), undefined, seed % 3);
      expect(read(text, random), `seed ${seed}`).toEqual({ ids: list.map(({ auditID }) => auditID), problems: [] });
    }
  });

  it('that breaks off: what is complete counts, and it is said', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = seeded(seed);
      const text = JSON.stringify({ items: list });
      const { ids, problems } = read(text.slice(0, Math.floor(text.length * (0.3 + random() / 2))), random);
      expect(ids.length).toBeGreaterThan(10);
      expect(ids).toEqual(list.slice(0, ids.length).map(({ auditID }) => auditID));
      expect(problems).toEqual(['cut']);
    }
  });
});

it('an event that breaks off before it names a pod is counted among the lines that say nothing', async () => {
  const cut = [events[3]?.slice(0, 60), events[4]?.slice(0, 70)];
  const { cannotTell } = await whyFrom([...cut, ...events].join('\n'));
  expect(cannotTell).toContain('what 2 lines say: not JSON');
});
