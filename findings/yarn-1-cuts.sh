# yarn 1 ends at once on SIGTERM with 1, also where no shell stays between it and the app; yarn 4 waits for the app.
. ./pid1.sh
npm_package yarn 1.22.22
printf '{"name":"shop","version":"1.0.0","scripts":{"start":"exec %s"}}' "$folder/app" > "$folder/package.json"
expect 'ready,got SIGTERM; exit 1' TERM node "$folder/node_modules/yarn/bin/yarn.js" --silent start
finish
