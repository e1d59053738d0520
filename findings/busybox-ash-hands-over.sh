# Alpine's sh (busybox ash) replaces itself by a single command, but not by the last of a list.
. ./pid1.sh
debian busybox-static 1:1.35.0-4+deb12u1+b1
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/bin/busybox" sh -c "$folder/app"
expect 'ready; still running after 4 s' TERM "$folder/root/bin/busybox" sh -c "$folder/app; true"
finish
