/** Who deleted a pod, and why, from audit logs in which the deletion does not name the pod, or names several pods. */
import { expect, it } from 'vitest';
import { pattern, casesIn } from '../helpers/case-file.ts';
import { merged } from '../helpers/object-changes.ts';
import { scenarioFile } from '../helpers/recordings.ts';
import { auditLogOf, whyFrom, whyReportFrom, type AuditReport } from './helpers/audit-log.ts';

type Level = 'Metadata' | 'RequestResponse' | 'Request of the kubelet';
interface Line {
  verb: string;
  user: { username: string };
  objectRef: { resource: string; subresource?: string; name?: string };
  responseObject?: unknown;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
}

interface Part {
  take: keyof typeof parts;
  shift?: number;
  set?: object;
  request?: object;
  /** The response of the request, instead of its own. */
  response?: object;
}

interface Case {
  level: Level;
  log: Part[];
  expect: Record<string, unknown> & { printed?: string };
}

const { pod, namespace } = auditLogOf(scenarioFile('sigkill-after-grace'), 'Metadata');

const isRequest = ({ verb, user }: Line): boolean => verb === 'delete' && user.username === 'kubernetes-admin';

/** Lines of the log of a pod that a client deleted, oldest first. */
const parts = {
  all: (all: Line[]) => all,
  others: (all: Line[]) => all.filter((line) => !isRequest(line)),
  request: (all: Line[]) => all.filter(isRequest),
  first: (all: Line[]) => all.slice(0, 1),
  status: (all: Line[]) => all.filter(({ objectRef }) => objectRef.subresource === 'status').slice(0, 1),
  'first of the pod': (all: Line[]) => all.filter(({ objectRef }) => objectRef.resource === 'pods').slice(0, 1),
  end: (all: Line[]) =>
    all.filter(({ objectRef, verb }) => objectRef.resource === 'pods' && verb === 'delete').slice(-1),
};

function logOf(level: Level, log: readonly Part[]): Line[] {
  const { lines } = auditLogOf(scenarioFile('sigkill-after-grace'), level);
  const all = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Line);
  const known = all.filter(({ requestReceivedTimestamp }) => requestReceivedTimestamp);
  return log.flatMap(({ take, shift = 0, set = {}, request = {}, response }) =>
    parts[take](known).map((line) => {
      const later = (time: string) => new Date(Date.parse(time) + shift).toISOString();
      const { requestReceivedTimestamp: received, stageTimestamp: stage } = line;
      const times = shift ? { requestReceivedTimestamp: later(received), stageTimestamp: later(stage) } : {};
      const own = isRequest(line) && response ? { ...line, responseObject: response } : line;
      return { ...(merged(merged(own, set), isRequest(line) ? request : {}) as Line), ...times };
    }),
  );
}

const textOf = (lines: readonly Line[]): string =>
  lines
    .map((line) => JSON.stringify(line))
    .join('\n')
    .replaceAll('$pod', pod)
    .replaceAll('$namespace', namespace);

const whyOf = (lines: readonly Line[]): Promise<AuditReport> => whyReportFrom(textOf(lines), pod, namespace);

/** What a case can expect of the document. */
function shown({ deletedBy, moments, cannotTell, exit, ...report }: AuditReport) {
  const statuses = moments.flatMap(({ name, what, source }) => (name === 'status' ? [`${what}: ${source}`] : []));
  return {
    ...report,
    deletedBy,
    by: deletedBy?.user ?? 'nobody',
    verb: deletedBy?.verb,
    accepted: moments.filter(({ name }) => name === 'accepted').length,
    cannotTell: cannotTell.join('\n'),
    statuses: statuses.join('\n'),
    exit: exit !== undefined,
    totalSeconds: exit?.totalSeconds ?? 'none',
    podGaps: exit?.gaps.filter(({ resource }) => resource === 'pods').length,
  };
}

it.each(casesIn<Case>(new URL('who-deleted.yaml', import.meta.url), ['level', 'log', 'expect']))(
  '%s',
  async (_, { level, log, expect: { printed, ...wanted } }) => {
    const lines = logOf(level, log);
    const { cannotTell, statuses, ...found } = shown(await whyOf(lines));
    const {
      cannotTell: unknown = '',
      statuses: written = '',
      ...rest
    } = JSON.parse(JSON.stringify(wanted).replaceAll('$pod', pod).replaceAll('$namespace', namespace)) as {
      cannotTell?: string;
      statuses?: string;
    };
    expect(found).toMatchObject(rest);
    expect(cannotTell).toMatch(pattern(unknown));
    expect(statuses).toMatch(pattern(written));
    expect(statuses).not.toMatch(/kubelet.*controller/);
    if (printed) expect((await whyFrom(textOf(lines), pod, namespace, [])).stdout).toMatch(pattern(printed));
  },
);

it('without the request, what the kubelet sends does not show whether it has begun to stop the pod', async () => {
  const metadata = { deletionTimestamp: null, deletionGracePeriodSeconds: null };
  const set = { verb: 'patch', objectRef: { subresource: 'status' }, responseObject: { metadata } };
  const alive = logOf('RequestResponse', [
    { take: 'first of the pod', shift: -60_000, set: { ...set, user: { username: 'system:node:node1' } } },
  ]);
  const instants = async (take: 'all' | 'others') => {
    const { exit } = await whyOf([...alive, ...logOf('Request of the kubelet', [{ take }])]);
    return new Map(exit?.marks.map(({ id, at }) => [id, at]));
  };
  const known = await instants('all');
  for (const [id, at] of await instants('others')) {
    const { earliest = '', latest = '' } = known.get(id) ?? {};
    expect([id, at.earliest <= latest, at.latest >= earliest]).toEqual([id, true, true]);
  }
});

it('the order of the lines does not matter', async () => {
  const lines = logOf('RequestResponse', [{ take: 'all' }]);
  const known = ({ outcome, trigger, deletedBy, moments, exit }: AuditReport) => {
    const containers = exit?.containers.map((one) => [one.outcome, one.exit?.code]);
    return [outcome, trigger, deletedBy, moments, containers];
  };
  expect(known(await whyOf(lines.toReversed()))).toEqual(known(await whyOf(lines)));
});
