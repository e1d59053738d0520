# cross-env passes SIGTERM on and waits; cross-env-shell has a shell between, which ends at once, and the app is cut off.
. ./pid1.sh
npm_package cross-env 10.1.0
expect 'ready,got SIGTERM,done; exit 7' TERM node "$folder/node_modules/cross-env/dist/bin/cross-env.js" A=1 "$folder/app"
expect 'ready; exit 1' TERM node "$folder/node_modules/cross-env/dist/bin/cross-env-shell.js" A=1 "$folder/app; true"
finish
