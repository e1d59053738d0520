# A trap for EXIT makes bash catch SIGTERM: as PID 1 it ends at once with 143, though the app in the foreground got nothing.
. ./pid1.sh
debian bash 5.2.15-2+b13
expect 'ready; exit 143' TERM "$folder/root/bin/bash" -c "trap 'echo bye' EXIT; $folder/app"
expect 'ready; still running after 4 s' TERM "$folder/root/bin/bash" -c "$folder/app; echo bye"
finish
