import { groupVersion, kinds, type Kind } from '../data/kinds.ts';

/** The documents a client reads before it knows what a server has; undefined for any other path. */
export function discovery(path: string, version: string): unknown {
  if (path === '/version') return versionInfo(version);
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups().map(groupInfo) };
  const [, core, group, only] = /^\/(?:(api)\/v1|apis\/([^/]+)(\/v1)?)$/.exec(path) ?? [];
  const wanted = core === undefined ? group : '';
  if (wanted === undefined || !kinds.some((kind) => kind.group === wanted) || (wanted === '' && core === undefined)) {
    return undefined;
  }
  return core !== undefined || only !== undefined
    ? resourceList(wanted)
    : { kind: 'APIGroup', apiVersion: 'v1', ...groupInfo(wanted) };
}

function versionInfo(gitVersion: string): unknown {
  const [, major = '1', minor = '36'] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  const built = { gitCommit: '', gitTreeState: 'clean', buildDate: '1970-01-01T00:00:00Z', goVersion: 'go1.26' };
  return { major, minor, gitVersion, ...built, compiler: 'gc', platform: 'linux/amd64' };
}

function groups(): string[] {
  return [...new Set(kinds.map((kind) => kind.group))].filter((group) => group !== '');
}

function groupInfo(group: string): { name: string; versions: unknown[]; preferredVersion: unknown } {
  const version = { groupVersion: `${group}/v1`, version: 'v1' };
  return { name: group, versions: [version], preferredVersion: version };
}

function resourceList(group: string): unknown {
  const ofGroup = kinds.filter((kind) => kind.group === group);
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: groupVersion({ group, version: 'v1' }),
    resources: ofGroup.flatMap((kind) => [resourceInfo(kind), ...(kind.subresources ?? []).map(subresourceInfo(kind))]),
  };
}

const verbs = ['delete', 'get', 'list', 'patch', 'update', 'watch'];

function resourceInfo({ plural, kind, namespaced, shortNames }: Kind): unknown {
  return { name: plural, singularName: kind.toLowerCase(), namespaced, kind, shortNames, verbs };
}

function subresourceInfo({ plural, kind }: Kind): (sub: string) => unknown {
  return (sub) => {
    const isEviction = sub === 'eviction';
    const about = { name: `${plural}/${sub}`, singularName: '', namespaced: true };
    return isEviction
      ? { ...about, group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] }
      : { ...about, kind, verbs: sub === 'log' ? ['get'] : ['get', 'patch', 'update'] };
  };
}
