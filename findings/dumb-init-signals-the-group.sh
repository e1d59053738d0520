# dumb-init signals the whole group: the app behind a shell gets SIGTERM, and is cut off all the same, for the shell ends.
. ./pid1.sh
debian dumb-init 1.2.5-2
debian dash 0.5.12-2
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/usr/bin/dumb-init" "$folder/app"
expect 'ready,got SIGTERM; exit 143' TERM "$folder/root/usr/bin/dumb-init" "$folder/root/bin/dash" -c "$folder/app"
finish
