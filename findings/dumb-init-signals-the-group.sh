# dumb-init signals the whole group, but the app behind a shell is cut off all the same, for the shell ends. Whether the app
# writes that it got the signal before that is chance.
. ./pid1.sh
debian dumb-init 1.2.5-2
debian dash 0.5.12-2
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/usr/bin/dumb-init" "$folder/app"
expect 'ready*; exit 143' TERM "$folder/root/usr/bin/dumb-init" "$folder/root/bin/dash" -c "$folder/app"
finish
