# pnpm 10 passes SIGTERM on and ends at once with 1, so that the app is cut off; with exec in the script it waits.
. ./pid1.sh
npm_package pnpm 10.34.9
printf '{"name":"shop","version":"1.0.0","scripts":{"start":"%s","exec":"exec %s"}}' "$folder/app" "$folder/app" > "$folder/package.json"
expect 'ready,got SIGTERM; exit 1' TERM node "$folder/node_modules/pnpm/bin/pnpm.cjs" --silent run start
expect 'ready,got SIGTERM,done; exit 7' TERM node "$folder/node_modules/pnpm/bin/pnpm.cjs" --silent run exec
finish
