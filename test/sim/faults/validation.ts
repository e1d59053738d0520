import type { Playback } from '../../../src/demo/cluster.ts';
import type { Kind } from '../../../src/demo/data/kinds.ts';
import { isRecord, recordsAt, valueAt, type KubeObject } from '../../../src/demo/data/kube-object.ts';
import { failure, HttpError } from '../../../src/demo/data/status.ts';
import type { Call } from '../../../src/demo/http/exchange.ts';
import { changedObject } from '../../../src/demo/verbs/merge.ts';

/**
 * The part of the API server's validation that concerns shutdown settings: container hooks, the grace period, the
 * rollout strategy, and that a pod's spec does not change. Throws a 422 that names the field.
 */
export function checkChange(cluster: Playback, exchange: Call): void {
  const { verb, kind, namespace, name = '' } = exchange.request;
  const before = kind && cluster.get(kind.plural, namespace, name);
  if (!before || (verb !== 'patch' && verb !== 'update')) return;
  const after = changedObject(before, exchange);

  if (kind.plural === 'pods' && JSON.stringify(before.spec) !== JSON.stringify(withoutUpdatable(after, before))) {
    throw invalidObject(
      kind,
      after.metadata.name,
      'spec',
      'Forbidden: pod updates may not change fields other than image',
    );
  }
  const podSpec = valueAt(after, 'spec.template.spec');
  if (!isRecord(podSpec)) return;
  const [first] = [...problemsOf(podSpec), ...strategyProblems(after)];
  if (first !== undefined) throw invalidObject(kind, after.metadata.name, first.field, first.message);
}

interface Problem {
  field: string;
  message: string;
}

const template = 'spec.template.spec';

function problemsOf(podSpec: Record<string, unknown>): Problem[] {
  const grace = numberOr(podSpec.terminationGracePeriodSeconds, 30);
  const lists = ['initContainers', 'containers'].flatMap((list) =>
    recordsAt(podSpec, list).flatMap((one, index) => containerProblems(one, `${template}.${list}[${index}]`, grace)),
  );
  const graceProblem =
    grace < 0
      ? [
          {
            field: `${template}.terminationGracePeriodSeconds`,
            message: `Invalid value: ${grace}: must be greater than or equal to 0`,
          },
        ]
      : [];
  return [...graceProblem, ...lists];
}

function containerProblems(container: Record<string, unknown>, field: string, grace: number): Problem[] {
  if (typeof container.image !== 'string') return [{ field: `${field}.image`, message: 'Required value' }];
  const hook = valueAt(container, 'lifecycle.preStop');
  if (!isRecord(hook)) return [];
  const handlers = ['exec', 'httpGet', 'tcpSocket', 'sleep'].filter((name) => isRecord(hook[name]));
  const path = `${field}.lifecycle.preStop`;
  if (handlers.length === 0) return [{ field: path, message: 'Required value: must specify a handler type' }];
  if (handlers.length > 1)
    return [{ field: `${path}.${handlers[1]}`, message: 'Forbidden: may not specify more than 1 handler type' }];
  const seconds = valueAt(hook, 'sleep.seconds');
  if (typeof seconds !== 'number' || (seconds >= 0 && seconds <= grace)) return [];
  const range = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  return [{ field: `${path}.sleep`, message: `Invalid value: ${seconds}: ${range}` }];
}

function strategyProblems(object: KubeObject): Problem[] {
  const surge = valueAt(object, 'spec.strategy.rollingUpdate.maxSurge');
  const unavailable = valueAt(object, 'spec.strategy.rollingUpdate.maxUnavailable');
  const isNone = (value: unknown) => value === 0 || value === '0%';
  if (!isNone(surge) || !isNone(unavailable)) return [];
  const message = 'Invalid value: 0: may not be 0 when `maxSurge` is 0';
  return [{ field: 'spec.strategy.rollingUpdate.maxUnavailable', message }];
}

/** The new spec, with the fields that may change in a running pod taken from the old spec. */
function withoutUpdatable(after: KubeObject, before: KubeObject): unknown {
  const old = recordsAt(before, 'spec.containers');
  const containers = recordsAt(after, 'spec.containers').map((one, index) =>
    old[index] !== undefined && 'image' in one ? { ...one, image: old[index].image } : one,
  );
  const { spec } = after;
  return isRecord(spec) && Array.isArray(spec.containers) ? { ...spec, containers } : spec;
}

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);

/** An object that the server's validation refuses. */
function invalidObject(kind: Kind, name: string, field: string, message: string): HttpError {
  const subject = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const text = `${subject} "${name}" is invalid: ${field}: ${message}`;
  const details = {
    name,
    group: kind.group,
    kind: kind.kind,
    causes: [{ reason: 'FieldValueInvalid', message, field }],
  };
  return new HttpError(failure(422, 'Invalid', text, details));
}
