# npm-run-all waits for npm, which waits for a shell: as PID 1 it goes on at SIGTERM, and the app gets nothing.
. ./pid1.sh
npm_package npm-run-all 4.1.5
printf '{"name":"shop","version":"1.0.0","scripts":{"start":"%s"}}' "$folder/app" > "$folder/package.json"
expect 'ready; still running after 4 s' TERM node "$folder/node_modules/npm-run-all/bin/npm-run-all/index.js" -s start
finish
