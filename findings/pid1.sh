# Sourced by each finding. Runs a program as PID 1 of a PID namespace of its own, as in a container, sends it one signal
# from outside, and compares what happened. Needs Linux, root (or user namespaces), node, apt-get and npm.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
changed=0

# debian PACKAGE VERSION: unpacks it below $folder/root; nothing is installed into the system.
debian() {
  (cd "$folder" && apt-get download -qq "$1=$2" >/dev/null 2>&1 && dpkg -x "$1"_*.deb root && rm "$1"_*.deb)
  echo "version: $1 $2"
}

# npm_package NAME VERSION: installs it in $folder.
npm_package() {
  npm install --prefix "$folder" --no-audit --no-fund --silent "$1@$2" >/dev/null
  echo "version: $1 $2, node $(node --version)"
}

# A program that reacts to SIGTERM, works for a second, and ends with 7.
cat > "$folder/app" <<'APP'
#!/usr/bin/env node
process.on('SIGTERM', () => {
  console.log('app: got SIGTERM');
  setTimeout(() => { console.log('app: done'); process.exit(7); }, 1000);
});
setInterval(() => {}, 1000);
console.log('app: ready');
APP
chmod +x "$folder/app"

# as_pid1 SIGNAL COMMAND…: prints what it wrote, then "exit CODE" or "still running after 4 s". Sets $seen and $seconds.
as_pid1() {
  signal=$1; shift
  (cd "$folder" && exec unshare --pid --fork --mount-proc --kill-child "$@") >"$folder/output" 2>&1 &
  outside=$!
  for _ in $(seq 100); do grep -q ready "$folder/output" 2>/dev/null && break; sleep 0.1; done
  sleep 0.5
  inside=$(pgrep -P "$outside" | head -1)
  start=$(date +%s%N)
  kill -s "$signal" "$inside"
  end="still running after 4 s"
  for _ in $(seq 400); do
    kill -0 "$outside" 2>/dev/null || { code=0; wait "$outside" || code=$?; end="exit $code"; break; }
    sleep 0.01
  done
  seconds=$(( ($(date +%s%N) - start) / 1000000000 ))
  kill -9 "$inside" 2>/dev/null || true
  wait "$outside" 2>/dev/null || true
  seen="$(grep '^app: ' "$folder/output" | sed 's/^app: //' | tr '\n' ',' | sed 's/,$//'); $end"
}

# expect BEHAVIOUR SIGNAL COMMAND…: BEHAVIOUR is what the app wrote, "; ", and how PID 1 ended; a pattern of sh.
expect() {
  wanted=$1; shift
  as_pid1 "$@"
  shift
  echo "run as PID 1: $(echo "$*" | sed "s|$folder/||g")"
  echo "  seen: $seen"
  case "$seen" in $wanted) ;; *) echo "  CHANGED, it was: $wanted"; changed=1 ;; esac
}

# Call at the end: fails if anything changed.
finish() { exit "$changed"; }
