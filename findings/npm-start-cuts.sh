# npm start with dash as its shell: npm ends half a second after SIGTERM with 1, and the app that got nothing is cut off.
. ./pid1.sh
npm_package npm 10.9.9
printf '{"name":"shop","version":"1.0.0","scripts":{"start":"%s"}}' "$folder/app" > "$folder/package.json"
expect 'ready; exit 1' TERM node "$folder/node_modules/npm/bin/npm-cli.js" start --silent --script-shell=/bin/dash
finish
