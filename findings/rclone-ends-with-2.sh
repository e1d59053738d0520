# rclone serve ends with exit code 2 on SIGTERM, and rclone rcd with 143: one program, two codes for the same stop.
. ./pid1.sh
debian rclone 1.60.1+dfsg-2+b5
mkdir "$folder/served"
expect '; exit 2' TERM "$folder/root/usr/bin/rclone" serve http --addr 127.0.0.1:48737 "$folder/served"
expect '; exit 143' TERM "$folder/root/usr/bin/rclone" rcd --rc-no-auth --rc-addr 127.0.0.1:45737
finish
