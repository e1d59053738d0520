# pm2-runtime sends its apps SIGINT instead of SIGTERM: an app that handles only SIGTERM is cut off.
. ./pid1.sh
npm_package pm2 7.0.4
expect 'ready; exit 0' TERM env PM2_HOME="$folder/pm2" node "$folder/node_modules/pm2/bin/pm2-runtime" --raw "$folder/app"
finish
