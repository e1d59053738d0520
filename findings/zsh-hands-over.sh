# zsh replaces itself by the last command, also after others.
. ./pid1.sh
debian zsh 5.9-4+b15
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/bin/zsh" -fc "$folder/app"
expect 'ready,got SIGTERM,done; exit 7' TERM "$folder/root/bin/zsh" -fc "true; $folder/app"
finish
