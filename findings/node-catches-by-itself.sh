# node without a handler shows SIGTERM as caught in /proc/1/status, and drops it all the same: the bit proves nothing.
. ./pid1.sh
cat > "$folder/bare.js" <<'APP'
const caught = BigInt('0x' + require('fs').readFileSync('/proc/1/status', 'utf8').match(/SigCgt:\s*(\w+)/)[1]);
console.log('app: SIGTERM is caught: ' + ((caught >> 14n) & 1n) + ', ready');
setInterval(() => {}, 1000);
APP
echo "version: node $(node --version)"
expect 'SIGTERM is caught: 1, ready; still running after 4 s' TERM node "$folder/bare.js"
finish
