import type { ObservationOf } from '../observation.ts';
import type { RequestFacts, Trace } from '../trace.ts';
import { factOf, note } from './notes.ts';
import { foldPod } from './pod.ts';

export function foldRequest(trace: Trace, o: ObservationOf<'requested'>): Trace {
  const request: RequestFacts = { verb: o.verb, graceSeconds: o.graceSeconds, sent: factOf(true, o) };
  const grace = o.graceSeconds === null ? '' : `, grace ${o.graceSeconds} s`;
  const what = `${o.verb === 'evict' ? 'eviction' : 'DELETE'} sent with uid precondition${grace}`;
  return note({ ...trace, uid: trace.uid ?? o.uid, requests: [...trace.requests, request] }, o, what);
}

export function foldAnswer(trace: Trace, o: ObservationOf<'answered'>): Trace {
  // An answer is to the last try: those before it got none, or none that is known.
  const open = trace.requests.findLastIndex((request) => request.verb === o.verb && request.answer === undefined);
  const answer = factOf({ status: o.status, ...(o.object ? { pod: o.object } : {}) }, o);
  const requests = trace.requests.map((request, index) => (index === open ? { ...request, answer } : request));
  const answered = note(
    { ...trace, requests },
    o,
    `answer ${o.status} to the ${o.verb === 'evict' ? 'eviction' : 'DELETE'}`,
  );
  return o.object === undefined || o.object.metadata.uid !== trace.uid
    ? answered
    : foldPod(answered, o.object, o, { isAnswer: true });
}
