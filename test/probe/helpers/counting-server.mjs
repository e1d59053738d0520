/**
 * A server in its own process, so that it answers while the probing process is blocked. A message sets its mode (`ok`,
 * `503`, `reset`, `silent`, `closed`), and it replies with the time of the change. At `end` it sends for each mode the
 * number of requests, and the times of the first and the last one, by its clock.
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
