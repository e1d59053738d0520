# nodemon sends SIGINT after SIGTERM: an app that handles only SIGTERM is ended by it in the middle of its work.
. ./pid1.sh
npm_package nodemon 3.1.14
expect 'ready,got SIGTERM; exit 143' TERM node "$folder/node_modules/nodemon/bin/nodemon.js" --quiet --exec node "$folder/app"
finish
