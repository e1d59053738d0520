# A trap of the shell runs only after the command in the foreground has ended: here after the app, which gets nothing.
. ./pid1.sh
debian bash 5.2.15-2+b13
expect 'ready; still running after 4 s' TERM "$folder/root/bin/bash" -c "trap 'echo trapped' TERM; $folder/app; true"
# With the command in the background and wait, the trap runs at once, and PID 1 ends; the app is killed with it.
expect 'ready; exit 143' TERM "$folder/root/bin/bash" -c "trap 'exit 143' TERM; $folder/app & wait"
finish
