# `fastify start` ends 0.5 s after SIGTERM with exit code 1, whatever the grace period of the pod: a request under way is cut
# off, although `fastify.close()` would wait for it. `--close-grace-delay`, in milliseconds, gives it more.
. ./pid1.sh
npm_package fastify-cli 7.4.1
cat > "$folder/plugin.js" <<'PLUGIN'
module.exports = async (fastify, options) => {
  fastify.addHook('onClose', async () => { console.log('app: got SIGTERM'); });
  fastify.get('/', async () => {
    await new Promise((resolve) => setTimeout(resolve, 2500));
    console.log('app: done');
    return {};
  });
  fastify.addHook('onListen', async () => {
    require('http').get('http://127.0.0.1:43117/', { agent: false }).on('error', () => {});
    setTimeout(() => console.log('app: ready'), 300);
  });
};
PLUGIN
expect 'ready; exit 1' TERM "$folder/node_modules/.bin/fastify" start -p 43117 "$folder/plugin.js"
[ "$seconds" -lt 2 ] || changed=1
expect 'ready,done*; exit 0' TERM "$folder/node_modules/.bin/fastify" start -p 43117 -g 3500 "$folder/plugin.js"
finish
