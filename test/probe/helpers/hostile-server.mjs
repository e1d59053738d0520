/**
 * `hostile-server.mjs NAME`: a hostile server in its own process. It sends its port, and at the end the number of its
 * connections. Without a NAME it sends the names of all behaviours.
 */
import { Buffer } from 'node:buffer';
import { createServer } from 'node:net';
import process from 'node:process';
import { clearInterval, setImmediate, setInterval, setTimeout } from 'node:timers';

const head = 'HTTP/1.1 200 OK\r\n';

/** Writes as fast as the client reads. */
function flood(socket, piece) {
  const write = () => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', () => setImmediate(write));
  };
  write();
}

function slowly(socket, text) {
  let sent = 0;
  const timer = setInterval(() => socket.write(text[sent++ % text.length]), 20);
  socket.on('close', () => clearInterval(timer));
}

/** RFC 9113 §4.1. */
function frame(type, flags, stream, payload = Buffer.alloc(0)) {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

const [data, headers, settings, ping, goaway, continuation] = [0, 1, 4, 6, 7, 9];
const noWindow = frame(settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]));
/** HPACK: `:status: 200` of the static table, and `:status: 103` spelled out. */
const ok = Buffer.from([0x88]);
const early = Buffer.from([0x08, 3, 0x31, 0x30, 0x33]);
const goodbye = frame(goaway, 0, 0, Buffer.alloc(8));
const many = (one, count = 500) => Buffer.concat(Array(count).fill(one));

/** What it does with a connection after the first data. */
const behaviours = {
  'answers 200, then resets': (s) => {
    s.write(`${head}content-length: 9\r\n\r\n1234`);
    setTimeout(() => s.resetAndDestroy(), 5);
  },
  'sends headers without end': (s) => (s.write(head), flood(s, `x-more: ${'a'.repeat(1000)}\r\n`)),
  'sends one header without end': (s) => (s.write(`${head}x-more: `), flood(s, 'a'.repeat(65536))),
  'sends informational answers without end': (s) =>
    flood(s, 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n'.repeat(100)),
  'sends chunks without end': (s) => (
    s.write(`${head}transfer-encoding: chunked\r\n\r\n`),
    flood(s, `10000\r\n${'a'.repeat(65536)}\r\n`)
  ),
  'sends chunks of one byte without end': (s) => (
    s.write(`${head}transfer-encoding: chunked\r\n\r\n`),
    flood(s, '1\r\na\r\n'.repeat(1000))
  ),
  'sends trailers without end': (s) => (
    s.write(`${head}transfer-encoding: chunked\r\n\r\n0\r\n`),
    flood(s, `x-more: ${'a'.repeat(1000)}\r\n`)
  ),
  'sends less than its content length': (s) => s.end(`${head}content-length: 9\r\n\r\n1234`),
  'sends a content length twice': (s) => s.end(`${head}content-length: 2\r\ncontent-length: 3\r\n\r\n123`),
  'answers a byte at a time': (s) => slowly(s, `${head}x: ${'y'.repeat(1000)}`),
  'upgrades to something else': (s) => (
    s.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    flood(s, 'a'.repeat(65536))
  ),
  'is silent, and closes in order': (s) => setTimeout(() => s.end(), 20),
  'sends bytes that mean nothing': (s) => flood(s, Buffer.alloc(65536, 0xfe)),

  'http/2: opens no window': (s) => s.write(noWindow),
  'http/2: sends PINGs without end': (s) => (
    s.write(frame(settings, 0, 0)),
    flood(s, many(frame(ping, 0, 0, Buffer.alloc(8))))
  ),
  'http/2: sends SETTINGS without end': (s) => flood(s, many(frame(settings, 0, 0))),
  'http/2: sends empty DATA without end': (s) => (
    s.write(Buffer.concat([frame(settings, 0, 0), frame(headers, 4, 1, ok)])),
    flood(s, many(frame(data, 0, 1)))
  ),
  'http/2: sends DATA of one byte without end': (s) => (
    s.write(Buffer.concat([frame(settings, 0, 0), frame(headers, 4, 1, ok)])),
    flood(s, many(frame(data, 0, 1, Buffer.from('a'))))
  ),
  'http/2: sends a header block without end': (s) => (
    s.write(Buffer.concat([frame(settings, 0, 0), frame(headers, 0, 1, ok)])),
    flood(s, many(frame(continuation, 0, 1)))
  ),
  'http/2: sends informational answers without end': (s) => (
    s.write(frame(settings, 0, 0)),
    flood(s, many(frame(headers, 4, 1, early)))
  ),
  'http/2: takes no request, and says goodbye': (s) => s.end(Buffer.concat([frame(settings, 0, 0), goodbye])),
  'http/2: sends a frame of 16 MB': (s) => (
    s.write(frame(settings, 0, 0)),
    s.write(Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1])),
    flood(s, Buffer.alloc(65536))
  ),
};

if (process.argv[2] === undefined) process.send(Object.keys(behaviours), () => process.exit());
else {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => socket.destroy());
    socket.once('data', () => behaviours[process.argv[2]](socket));
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.on('message', () => process.send(connections, () => process.exit()));
}
