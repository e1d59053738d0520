import type { Agent } from 'node:http';
import { request, type IncomingHttpHeaders } from 'node:http';
import type { KubeObject } from '../../../src/demo/data/kube-object.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body as JSON. */
  body: Body;
}

/** Any body of a response, loosely typed so that tests can read its fields. */
export interface Body extends KubeObject {
  items: KubeObject[];
  code?: number;
  message?: string;
  reason?: string;
  metadata: KubeObject['metadata'] & { continue?: string; remainingItemCount?: number };
}

export interface Frame {
  type: string;
  object: KubeObject & { code?: number; message?: string };
}

export interface OpenStream {
  status: number;
  /** All complete lines so far. */
  lines: string[];
  /** Bytes after the last newline. */
  rest(): string;
  frames(): Frame[];
  /** Resolves when the server ends the stream, rejects when the connection breaks. */
  ended: Promise<void>;
  /** Resolves when `isEnough` is true of the lines. */
  until(isEnough: (lines: string[]) => boolean): Promise<void>;
  close(): void;
}

interface Sending {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  agent?: Agent;
}

/** Sends plain HTTP/1.1, so that a test sees the bytes unchanged. */
export function send(url: string, { method = 'GET', body, headers = {}, agent }: Sending = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const sent = request(
      url,
      { method, headers: { ...sized(text), ...headers }, agent: agent ?? false },
      (response) => {
        let received = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (received += chunk));
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode = 0, headers: given } = response;
          resolve({ status: statusCode, headers: given, text: received, body: parse(received) });
        });
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

/** Opens a watch or a log. */
export function open(url: string): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false }, (response) => {
      const lines: string[] = [];
      const waiting = new Set<() => void>();
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        const parts = (rest + chunk).split('\n');
        rest = parts.pop() ?? '';
        lines.push(...parts);
        for (const check of [...waiting]) check();
      });
      const ended = new Promise<void>((end, fail) => {
        response.on('end', end);
        response.on('error', fail);
      });
      ended.catch(() => {});
      resolve({
        status: response.statusCode ?? 0,
        lines,
        ended,
        rest: () => rest,
        frames: () => lines.map((line) => JSON.parse(line) as Frame),
        close: () => sent.destroy(),
        until: (isEnough) =>
          new Promise((done) => {
            const check = () => {
              if (!isEnough(lines)) return;
              waiting.delete(check);
              done();
            };
            waiting.add(check);
            check();
          }),
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

function sized(text: string | undefined): Record<string, string> {
  if (text === undefined) return {};
  return { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) };
}

function parse(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {} as Body;
  }
}
