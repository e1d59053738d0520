# yash is the only shell here that replaces itself by the last command of a function; a comment after it prevents that.
. ./pid1.sh
debian yash 2.52-2
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/usr/bin/yash" -c "f() { $folder/app; }; f"
expect 'ready; still running after 4 s' TERM "$folder/root/usr/bin/yash" -c "$folder/app # comment"
finish
