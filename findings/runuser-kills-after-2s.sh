# runuser and su pass SIGTERM on, and send SIGKILL two seconds later, whatever the grace period is.
. ./pid1.sh
debian util-linux 2.38.1-5+deb12u3
# It works for 3.5 s; its line begins anew, as runuser writes a message without the end of a line.
sed "s/'app: got/'\\\\napp: got/; s/}, 1000);\$/}, 3500);/" "$folder/app" > "$folder/slow"
chmod +x "$folder/slow"
expect 'ready,got SIGTERM; exit 143' TERM "$folder/root/sbin/runuser" -u root -- "$folder/slow"
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/slow"
finish
