# twemproxy (nutcracker) has a handler for SIGINT and none for SIGTERM: as PID 1 it runs on until SIGKILL, and behind an
# init SIGTERM ends it at once. SIGINT ends it as PID 1 too, with exit code 1.
. ./pid1.sh
debian nutcracker 0.5.0+dfsg-2
debian tini 0.19.0-1+b3
cat > "$folder/proxy.yml" <<'CONF'
cache:
  listen: 127.0.0.1:42121
  hash: fnv1a_64
  distribution: ketama
  servers:
    - 127.0.0.1:42122:1
CONF
cat > "$folder/proxy" <<'PROXY'
#!/bin/sh
exec "${0%/*}/root/usr/sbin/nutcracker" --output=/dev/stderr --conf-file="${0%/*}/proxy.yml" --stats-port=42123
PROXY
chmod +x "$folder/proxy"
expect '; still running after 4 s' TERM "$folder/proxy"
expect '; exit 1' INT "$folder/proxy"
expect '; exit 143' TERM "$folder/root/usr/bin/tini" -- "$folder/proxy"
finish
