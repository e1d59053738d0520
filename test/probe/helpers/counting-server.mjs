/**
 * A server in a process of its own, so that it answers while the one that probes it stands still. Told by messages what to do next
 * (`ok`, `503`, `reset`, `silent`, `closed`), it says when it began to, and at `end` how many requests came to what, by its clock.
 */
import { createServer } from 'node:http';

let mode = 'ok';
const seen = {};
const answers = {
  ok: (answer) => answer.end(),
  503: (answer) => answer.writeHead(503).end(),
  reset: (answer) => answer.socket.resetAndDestroy(),
  silent: () => undefined,
};
const server = createServer({ keepAliveTimeout: 60_000 }, (request, answer) => {
  const at = Date.now();
  const one = (seen[mode] ??= { count: 0, first: at });
  [one.count, one.last] = [one.count + 1, at];
  answers[mode](answer);
});
const port = () => server.address().port;
let last = 0;
process.on('message', (next) => {
  if (next === 'end') return process.send(seen, () => process.exit());
  const said = () => process.send({ port: port(), at: Date.now() });
  if (next === 'closed') {
    last = port();
    server.close();
    server.closeAllConnections();
    mode = 'ok';
    return process.send({ port: last, at: Date.now() });
  }
  mode = next;
  if (server.listening) said();
  else server.listen(last, '127.0.0.1', said);
});
