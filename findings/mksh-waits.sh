# mksh catches SIGTERM and waits for the command in the foreground, without passing the signal on.
. ./pid1.sh
debian mksh 59c-28+deb12u1
expect 'ready; still running after 4 s' TERM "$folder/root/bin/mksh" -c "$folder/app; true"
finish
