# daemontools' svscan as PID 1 drops SIGTERM, and its services never hear of it.
. ./pid1.sh
debian daemontools 1:0.76-8.1
mkdir -p "$folder/services/app"
printf '#!/bin/sh\nexec %s\n' "$folder/app" > "$folder/services/app/run"
chmod +x "$folder/services/app/run"
PATH="$folder/root/usr/bin:$PATH"
expect 'ready; still running after 4 s' TERM svscan "$folder/services"
finish
