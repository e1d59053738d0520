# Debian's sh (dash) keeps itself as PID 1 for a command line of one command, and drops SIGTERM: the app gets nothing.
. ./pid1.sh
debian dash 0.5.12-2
expect 'ready; still running after 4 s' TERM "$folder/root/bin/dash" -c "$folder/app"
expect 'ready; still running after 4 s' TERM "$folder/root/bin/dash" -c "cd / && $folder/app"
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/bin/dash" -c "exec $folder/app"
finish
