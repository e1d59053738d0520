# GNU time as PID 1 drops SIGTERM; its command never gets it.
. ./pid1.sh
debian time 1.9-0.2
expect 'ready; still running after 4 s' TERM "$folder/root/usr/bin/time" "$folder/app"
finish
