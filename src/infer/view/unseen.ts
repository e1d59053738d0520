/** What is known of a pod whose deletion was not seen: what we asked for, and since when the pod is gone. */
import { millisecondsOf } from '../../model/assumptions.ts';
import { arrival } from '../arrival.ts';
import type { Estimate } from '../estimate.ts';
import { onClient } from '../estimate.ts';
import { atLeast } from '../../model/span.ts';
import type { TimelineMark } from '../conclusions.ts';
import type { Fact, RequestFacts, Trace } from '../../model/trace.ts';
import { mark, requestMark, sentAt } from './marks.ts';

/** None while the pod may still be there. */
export function unseenMarks(trace: Trace): TimelineMark[] {
  const { gone, pod, requests } = trace;
  if (!gone || !pod) return [];
  const request = requests.findLast(mayHaveCounted);
  const removed = arrival(trace, gone, 'pod', request && isExecuted(request) ? sentAt(request) : aliveAt(pod));
  return [...(request ? requestMark(request) : []), ...mark('removed', removed)];
}

/** It was executed, or that is unknown: a server in trouble may have done it all the same. */
export const mayHaveCounted = (request: RequestFacts): boolean =>
  !request.answer || isExecuted(request) || request.answer.value.status >= 500;

const isExecuted = ({ answer }: RequestFacts): boolean => answer !== undefined && answer.value.status < 300;

/** Its last state shows that it was there, and is older than its arrival by `delivery-lag` at most. */
const aliveAt = ({ at, seq }: Fact<unknown>): Estimate => onClient(atLeast(at - millisecondsOf('delivery-lag')), [seq]);
