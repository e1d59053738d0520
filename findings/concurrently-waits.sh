# concurrently sends SIGTERM to its commands and to what their shells started, waits for them, and ends with 1.
. ./pid1.sh
npm_package concurrently 9.2.5
expect 'ready,got SIGTERM,done; exit 1' TERM node "$folder/node_modules/concurrently/dist/bin/concurrently.js" --prefix none "$folder/app"
finish
