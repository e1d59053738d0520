import { expect, it } from 'vitest';
import type { AttemptEnd, Cursor } from '../../src/kube/decide.ts';
import { decide } from '../../src/kube/decide.ts';
import { TransportFailure } from '../../src/kube/http/failure.ts';
import { readRefusal } from '../../src/kube/status.ts';
import { casesIn } from '../helpers/case-file.ts';
import { status as statusOf } from './helpers/api.ts';

const fresh: Cursor = { failures: 0, behind: 0, relists: 0, dead: 0, foreign: 0, reached: false };
const reached: Cursor = { ...fresh, reached: true };
const watching: Cursor = { ...reached, resourceVersion: '7' };

/** `answer` and `line` are the server's own words, `page` those of a proxy; `after`: ms that the server asks for. */
function endOf(text: string): AttemptEnd {
  const [kind = '', what = '', , afterMs] = text.split(' ');
  const refused = { kind: 'refused', verb: 'watch' } as const;
  switch (kind) {
    case 'answer': {
      const refusal = readRefusal(Number(what), statusOf(Number(what), 'Refused', 'no'));
      return {
        ...refused,
        refusal: { ...refusal, retryAfterMs: afterMs === undefined ? undefined : Number(afterMs) },
        isErrorLine: false,
      };
    }
    case 'page':
      return { ...refused, refusal: readRefusal(Number(what), '<html>') };
    case 'line':
      return { ...refused, refusal: readRefusal(Number(what), undefined), isErrorLine: true };
    case 'unanswered':
      return { kind, failure: new TransportFailure('no answer', { sent: false, code: what }) };
    case 'oversized':
      return { kind, verb: 'watch' };
    default:
      return { kind } as AttemptEnd;
  }
}

interface Case {
  end: string;
  cursor?: Partial<Cursor> & { from?: 'fresh' | 'reached' };
}

it.each(casesIn<Case & Record<string, unknown>>(new URL('decide.yaml', import.meta.url)))(
  '%s',
  (_, { end, cursor: { from, ...more } = {}, ...next }) => {
    const base = from ? { fresh, reached }[from] : watching;
    expect(decide(endOf(end), { ...base, ...more })).toEqual(next);
  },
);
