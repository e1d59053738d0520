# workerd, the runtime of Cloudflare Workers, finishes its requests on SIGTERM. For SIGINT it has no handler: as PID 1, and so
# in `docker run` with Ctrl-C, it goes on.
. ./pid1.sh
npm_package workerd 1.20261117.1
cat > "$folder/worker.capnp" <<'CONFIG'
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:43118", http = (), service = "main")]
);
const worker :Workerd.Worker = (serviceWorkerScript = embed "worker.js", compatibilityDate = "2026-01-01");
CONFIG
cat > "$folder/worker.js" <<'WORKER'
const answer = () => new Promise((resolve) => setTimeout(() => resolve(new Response('')), 2500));
addEventListener('fetch', (event) => event.respondWith(answer()));
WORKER
cat > "$folder/client.js" <<'CLIENT'
const request = require('http').get('http://127.0.0.1:43118/', () => console.log('app: answered'));
request.on('error', () => console.log('app: cut'));
request.on('socket', (socket) => socket.on('connect', () => console.log('app: ready')));
CLIENT
cat > "$folder/server" <<'SERVER'
#!/bin/sh
cd "${0%/*}"
(sleep 2; node client.js) &
exec node_modules/.bin/workerd serve worker.capnp
SERVER
chmod +x "$folder/server"
expect 'ready,answered; exit 0' TERM "$folder/server"
expect 'ready,answered; still running after 4 s' INT "$folder/server"
finish
