import { isRecord } from '../data/kube-object.ts';
import { badRequest } from '../data/status.ts';

/** RFC 7386: null removes, objects are merged, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}

interface Operation {
  op: string;
  path: string;
  value?: unknown;
}

/** RFC 6902, of which `add`, `replace`, `remove` and `test` are what clients send to pods. Throws a 400 for others. */
export function jsonPatch(target: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw badRequest('a JSON patch has to be a list');
  return (operations as Operation[]).reduce<unknown>((value, operation) => apply(value, operation), target);
}

function apply(target: unknown, operation: Operation): unknown {
  const steps = operation.path.split('/').slice(1);
  return at(
    target,
    steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')),
    operation,
  );
}

function at(target: unknown, [step, ...rest]: string[], operation: Operation): unknown {
  if (step === undefined) return leaf(target, operation);
  if (Array.isArray(target)) return atIndex(target as unknown[], step, rest, operation);
  if (!isRecord(target)) throw badRequest(`the path ${operation.path} does not exist`);
  const next = at(target[step], rest, operation);
  const { [step]: _, ...others } = target;
  return next === undefined ? others : { ...others, [step]: next };
}

function atIndex(list: unknown[], step: string, rest: string[], operation: Operation): unknown[] {
  const index = step === '-' ? list.length : Number(step);
  if (operation.op === 'add' && rest.length === 0) return list.toSpliced(index, 0, operation.value);
  const next = at(list[index], rest, operation);
  return next === undefined ? list.toSpliced(index, 1) : list.with(index, next);
}

function leaf(target: unknown, { op, path, value }: Operation): unknown {
  if (op === 'add' || op === 'replace') return value;
  if (op === 'remove' && target !== undefined) return undefined;
  if (op === 'test' && JSON.stringify(target) === JSON.stringify(value)) return target;
  throw badRequest(`the operation ${op} cannot be applied at ${path}`);
}
