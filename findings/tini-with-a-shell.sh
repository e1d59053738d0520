# An init in front of a shell makes it worse: the shell is no PID 1 any more, ends at once, and the app is cut off.
. ./pid1.sh
debian tini 0.19.0-1+b3
debian dash 0.5.12-2
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/usr/bin/tini" -- "$folder/app"
expect 'ready; exit 143' TERM "$folder/root/usr/bin/tini" -- "$folder/root/bin/dash" -c "$folder/app"
finish
