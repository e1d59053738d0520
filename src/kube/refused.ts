import type { Sighting, StreamName } from '../model/observation.ts';
import type { Cluster } from './cluster.ts';
import { readPath } from './resource-path.ts';
import type { Refusal } from './status.ts';

/** What was asked, in the words that a Role would have to grant. */
export interface Wanted {
  verb: string;
  resource: string;
  group: string;
}

/** The one sighting of a lane that the server does not let us have. */
export function refusedBy(
  cluster: Cluster,
  { stream, path, container }: { stream: StreamName; path: string; container?: string },
  { refusal, verb }: { refusal?: Refusal; verb: string },
): Sighting {
  const message = cluster.clean(refusal?.message ?? '');
  return {
    kind: 'refused',
    at: cluster.surroundings.now(),
    stream,
    container,
    status: refusal?.status ?? 0,
    ...(readDenial(message) ?? { verb, resource: readPath(path).resource, group: readPath(path).group }),
    message,
  };
}

/** RBAC names what is missing; a webhook or a policy does not, and then this is undefined. */
export function readDenial(message: string): Wanted | undefined {
  const [, verb, resource, group] = denial.exec(message) ?? [];
  return verb === undefined || resource === undefined ? undefined : { verb, resource, group: group ?? '' };
}

const denial = /cannot (\w+) resource "([^"]*)" in API group "([^"]*)"/;
