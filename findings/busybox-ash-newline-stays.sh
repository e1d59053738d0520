# Alpine's sh (busybox ash) does not see that a command is the last one if a newline follows, as in a YAML block of `|`.
. ./pid1.sh
debian busybox-static 1:1.35.0-4+deb12u1+b1
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/bin/busybox" sh -c "true; $folder/app"
expect 'ready; still running after 4 s' TERM "$folder/root/bin/busybox" sh -c "true
$folder/app
"
finish
