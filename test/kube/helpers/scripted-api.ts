/** An API server whose answers are written down as text, for tables of cases. */
import type { Api, Asked, Handler } from './api.ts';
import { bookmark, json, line, pod, podList, serve, status } from './api.ts';

const pods = '/api/v1/namespaces/shop/pods';

/** What a request asks for. `state`: the watch that begins with the whole state. */
type Question = 'state' | 'watch' | 'list' | 'log' | 'get' | 'delete' | 'evict' | 'any';

/** One answer. Of all that are for a request, the first that is not used up is given. Without an answer it waits. */
export interface Answer {
  to: Question;
  /** Only to a watch from this resourceVersion. */
  from?: string;
  /** How often it is given; absent: always. */
  times?: number;
  /** Lines of a watch: `ADDED web 5`, `BOOKMARK 7`, `SYNCED 7`, `ERROR 410 Expired` or a text as it is. */
  says?: string[];
  /** The stream ends, or breaks. */
  then?: 'ends' | 'breaks';
  /** A list of these pods: `web 5`. */
  lists?: { version: string; pods?: string[]; continue?: string };
  /** An object: `web 5`. */
  gives?: string;
  /** A Status: its code, its reason, and perhaps its message and its details. */
  refuses?: [code: number, reason: string, message?: string, details?: object];
  /** Something that no API server says. */
  page?: { status?: number; headers: Record<string, string>; text: string };
  headers?: Record<string, string>;
}

/** `web 5`, `web 5 UID` or `web 5 UID terminating`. */
export function podIn(text: string): object {
  const [name = '', version = '', uid, deleted] = text.split(' ');
  return pod(name, version, { ...(uid && { uid }), ...(deleted && { deletionTimestamp: '2026-11-20T23:44:21Z' }) });
}

function lineIn(text: string): string {
  const [kind = '', ...words] = text.trimEnd().split(' ');
  if (kind === 'BOOKMARK' || kind === 'SYNCED') return bookmark(words[0] ?? '', kind === 'SYNCED');
  if (kind === 'ERROR') return line(kind, status(Number(words[0]), words[1] ?? '', words.slice(1).join(' ')));
  return ['ADDED', 'MODIFIED', 'DELETED'].includes(kind) ? line(kind, podIn(words.join(' '))) : text;
}

export function questionOf({ method, path, query }: Asked): Question {
  if (method !== 'GET') return method === 'POST' ? 'evict' : 'delete';
  if (path !== pods) return path.endsWith('/log') ? 'log' : 'get';
  if (query['watch'] === undefined) return 'list';
  return query['sendInitialEvents'] === undefined ? 'watch' : 'state';
}

const isFor = ({ to, from }: Answer, asked: Asked): boolean =>
  (to === 'any' || to === questionOf(asked)) && (from === undefined || asked.query['resourceVersion'] === from);

export async function serveAnswers(answers: readonly Answer[]): Promise<Api> {
  const given = new Map<Answer, number>();
  return serve((asked, response, request) => {
    const answer = answers.find((one) => isFor(one, asked) && (given.get(one) ?? 0) < (one.times ?? Infinity));
    if (!answer) return;
    given.set(answer, (given.get(answer) ?? 0) + 1);
    give(answer, response, request);
  });
}

function give(answer: Answer, response: Parameters<Handler>[1], request: Parameters<Handler>[2]): void {
  const { says, lists, gives, refuses, page, headers } = answer;
  if (refuses) return json(response, refuses[0], status(refuses[0], refuses[1], refuses[2] ?? '', refuses[3]), headers);
  if (lists) {
    const { version, pods: items = [], ...more } = lists;
    return json(response, 200, podList(version, items.map(podIn), more));
  }
  if (gives !== undefined) return json(response, 200, podIn(gives));
  if (page) return void response.writeHead(page.status ?? 200, page.headers).end(page.text);
  if (says) response.write(says.map(lineIn).join(''));
  response.flushHeaders();
  if (answer.then === 'ends') response.end();
  // What was said before arrives.
  if (answer.then === 'breaks') setTimeout(() => request.socket.destroy(), says ? 20 : 0);
}
