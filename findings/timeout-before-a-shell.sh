# timeout forwards SIGTERM and waits for its command; if that is dash with an app, dash ends at once and the app is cut off.
. ./pid1.sh
debian coreutils 9.1-1
debian dash 0.5.12-2
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/usr/bin/timeout" 1h "$folder/app"
expect 'ready; exit 143' TERM "$folder/root/usr/bin/timeout" 1h "$folder/root/bin/dash" -c "$folder/app; true"
finish
