# flock waits for its command and has no handler: as PID 1 it drops SIGTERM. With -F it replaces itself.
. ./pid1.sh
debian util-linux 2.38.1-5+deb12u3
expect 'ready; still running after 4 s' TERM "$folder/root/usr/bin/flock" lock "$folder/app"
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/usr/bin/flock" -F lock "$folder/app"
finish
