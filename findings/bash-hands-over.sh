# bash replaces itself by the last command of -c, but not if anything follows it: `; true` decides about a shutdown.
. ./pid1.sh
debian bash 5.2.15-2+b13
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/bin/bash" -c "$folder/app"
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/bin/bash" -c "cd / && $folder/app"
expect 'ready; still running after 4 s' TERM "$folder/root/bin/bash" -c "$folder/app; true"
finish
