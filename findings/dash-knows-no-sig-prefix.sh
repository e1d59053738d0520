# `trap … SIGTERM` is an error in dash, which goes on without that trap; `trap … TERM` works in every shell.
. ./pid1.sh
debian dash 0.5.12-2
debian bash 5.2.15-2+b13
expect 'ready; still running after 4 s' TERM "$folder/root/bin/dash" -c "trap 'exit 9' SIGTERM; $folder/app & wait"
expect 'ready; exit 9' TERM "$folder/root/bin/dash" -c "trap 'exit 9' TERM; $folder/app & wait"
expect 'ready; exit 9' TERM "$folder/root/bin/bash" -c "trap 'exit 9' SIGTERM; $folder/app & wait"
finish
