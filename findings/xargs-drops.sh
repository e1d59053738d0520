# xargs as PID 1 drops SIGTERM; its command never gets it.
. ./pid1.sh
debian findutils 4.9.0-4
expect 'ready; still running after 4 s' TERM sh -c "exec $folder/root/usr/bin/xargs $folder/app </dev/null"
finish
