# find -exec waits for its command and has no handler: as PID 1 it drops SIGTERM.
. ./pid1.sh
debian findutils 4.9.0-4
expect 'ready; still running after 4 s' TERM "$folder/root/usr/bin/find" /dev/null -exec "$folder/app" ';'
finish
