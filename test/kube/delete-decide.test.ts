import { expect, it } from 'vitest';
import { type Tried, decideDelete } from '../../src/kube/delete.ts';
import { TransportFailure } from '../../src/kube/http/failure.ts';
import { readRefusal } from '../../src/kube/status.ts';
import { casesIn } from '../helpers/case-file.ts';
import { status } from './helpers/api.ts';

/** What the API server says. Without a name, a proxy answers. */
const bodies: Record<string, unknown> = {
  budget: status(429, 'TooManyRequests', 'Cannot evict', { causes: [{ reason: 'DisruptionBudget' }] }),
  successor: status(409, 'Conflict', 'the UID in the precondition (a) does not match the UID in record (b)'),
  successorByStore: status(409, 'Conflict', 'Precondition failed: UID in precondition: a, UID in object meta: b'),
  conflict: status(409, 'Conflict', 'x'),
  twoBudgets: status(500, 'InternalError', 'This pod has more than one PodDisruptionBudget'),
  notFound: status(404, 'NotFound', 'pods "web" not found'),
  webhook: status(400, '', 'admission webhook "guard" denied the request: not now'),
  forbidden: status(403, 'Forbidden', 'forbidden'),
  with: {},
  after: {},
};

/** `sent CODE`, `unsent CODE`, `refused STATUS BODY`, `refused STATUS after SECONDS`. */
function triedAs(text: string): Tried {
  const [kind, what = '', body = '', seconds] = text.split(' ');
  if (kind !== 'refused')
    return { kind: 'failed', failure: new TransportFailure('no answer', { sent: kind === 'sent', code: what }) };
  const headers = body === 'after' ? { 'retry-after': seconds } : {};
  return { kind, refusal: readRefusal(Number(what), bodies[body] ?? '<html>', headers) };
}

interface Case {
  ended: string;
  failures: number;
  /** The step, and its wait in ms. */
  next: string;
  isDryRun?: true;
}

it.each(casesIn<Case>(new URL('delete-decide.yaml', import.meta.url), ['ended', 'failures', 'next', 'isDryRun']))(
  '%s',
  (_, { ended, failures, next, isDryRun }) => {
    const [step, ms] = next.split(' ');
    const wanted = { next: step, ...(ms === undefined ? {} : { ms: Number(ms) }) };
    expect(decideDelete(triedAs(ended), failures, isDryRun)).toEqual(wanted);
  },
);
