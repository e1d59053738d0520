# bash replaces itself by a single command, but not by one with a redirection: `app >log` makes a shell that drops SIGTERM.
. ./pid1.sh
debian bash 5.2.15-2+b13
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/bin/bash" -c "$folder/app"
expect 'ready; still running after 4 s' TERM "$folder/root/bin/bash" -c "$folder/app 2>/dev/null"
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/bin/bash" -c "exec $folder/app 2>/dev/null"
finish
