# busybox's timeout becomes the command and watches it from a child; that of coreutils stays in front of it and forwards.
. ./pid1.sh
debian busybox-static 1:1.35.0-4+deb12u1+b1
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/bin/busybox" timeout 3600 "$folder/app"
finish
