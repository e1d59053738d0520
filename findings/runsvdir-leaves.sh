# runit's runsvdir ends at once on SIGTERM, and on SIGHUP with 111 after it told its services: as PID 1 both cut the app off.
. ./pid1.sh
debian runit 2.1.2-54
mkdir -p "$folder/services/app"
printf '#!/bin/sh\nexec %s\n' "$folder/app" > "$folder/services/app/run"
chmod +x "$folder/services/app/run"
PATH="$folder/root/usr/bin:$PATH"
expect 'ready; exit 0' TERM runsvdir "$folder/services"
expect 'ready; exit 111' HUP runsvdir "$folder/services"
finish
