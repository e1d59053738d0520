import type { Playback } from '../cluster.ts';
import { groupVersion, servedKinds, type Kind } from '../data/kube-object.ts';
import { methodNotAllowed, noSuchPath } from '../data/status.ts';
import { isDryRun } from '../http/api-request.ts';
import type { Call } from '../http/exchange.ts';
import { serveChange } from './merge.ts';
import { serveDelete, serveEviction } from './delete.ts';
import { serveLog, serveGet, serveList, serveWatch } from './read.ts';

/** Answers one request. Throws an HttpError for whatever cannot be served. */
export async function serve(cluster: Playback, exchange: Call): Promise<void> {
  const { request } = exchange;
  const { path, method, kind, subresource, verb } = request;
  if (kind === undefined) return serveOther(exchange);
  if (!isDryRun(request) && isTrigger(cluster, method, path)) return serveTrigger(cluster, exchange);
  if (subresource !== undefined && kind.plural !== 'pods') throw noSuchPath();
  const serveRequest = handlers[[verb, subresource].filter(Boolean).join(' ')];
  if (serveRequest !== undefined) return serveRequest(cluster, exchange, kind);
  throw subresource === undefined ? methodNotAllowed() : noSuchPath();
}

/** By the verb, with the subresource of a pod. */
const handlers: Record<string, (cluster: Playback, exchange: Call, kind: Kind) => void | Promise<void>> = {
  get: serveGet,
  list: serveList,
  watch: serveWatch,
  delete: serveDelete,
  patch: serveChange,
  'get log': serveLog,
  'create eviction': serveEviction,
};

/** Whether this is the recorded request that made a controller delete the pod. Sending it begins the pod's end. */
function isTrigger({ scenario, player }: Playback, method: string, path: string): boolean {
  const { trigger } = scenario;
  if (trigger.kind !== 'other' || player.moments.begunAt !== undefined) return false;
  return trigger.method === method && trigger.path === path;
}

async function serveTrigger(cluster: Playback, exchange: Call): Promise<void> {
  const { player, scenario } = cluster;
  const { answer } = scenario.trigger;
  player.begin();
  if (answer === undefined) throw noSuchPath();
  await cluster.sleep(player.untilRecorded(answer.at));
  exchange.json(answer.status, cluster.answer(answer.body, answer.at));
}

function serveOther(exchange: Call): void {
  const { path, method } = exchange.request;
  const document = method === 'GET' ? discovery(path) : undefined;
  if (document !== undefined) return exchange.json(200, document);
  if (path === '/healthz' || path === '/readyz' || path === '/livez') return exchange.text(200, 'ok');
  // Everything is allowed, so the body is not read, which may have any encoding.
  if (method === 'POST' && path === `/apis/${accessReview.apiVersion}/selfsubjectaccessreviews`) {
    return exchange.json(201, accessReview);
  }
  throw noSuchPath();
}

const accessReview = {
  kind: 'SelfSubjectAccessReview',
  apiVersion: 'authorization.k8s.io/v1',
  metadata: {},
  spec: {},
  status: { allowed: true },
};

/** Discovery documents, which clients read to learn what a server has; undefined for any other path. */
function discovery(path: string): unknown {
  if (path === '/version') return version;
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupInfo) };
  if (path === '/api/v1') return resourceList('');
  const [, group = '', isWithVersion] = /^\/apis\/([^/]+)(\/v1)?$/.exec(path) ?? [];
  if (!groups.includes(group)) return undefined;
  return isWithVersion ? resourceList(group) : { kind: 'APIGroup', apiVersion: 'v1', ...groupInfo(group) };
}

/** The version of the server that the scenarios were recorded from. */
const version = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.2',
};

const groups = [...new Set(servedKinds.map((kind) => kind.group))].filter((group) => group !== '');

function groupInfo(group: string): object {
  const version = { groupVersion: groupVersion(group), version: 'v1' };
  return { name: group, versions: [version], preferredVersion: version };
}

function resourceList(group: string): unknown {
  const ofGroup = servedKinds.filter((kind) => kind.group === group);
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: groupVersion(group),
    resources: [...ofGroup.map(resourceInfo), ...(group === '' ? podSubresources : [])],
  };
}

const verbs = ['delete', 'get', 'list', 'patch', 'watch'];

function resourceInfo({ plural, kind, namespaced, shortNames }: Kind): object {
  return { name: plural, singularName: kind.toLowerCase(), namespaced, kind, shortNames, verbs };
}

const podSubresources = [
  { name: 'pods/log', kind: 'Pod', verbs: ['get'] },
  { name: 'pods/eviction', group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
].map((info) => ({ singularName: '', namespaced: true, ...info }));
