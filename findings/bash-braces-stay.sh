# In braces, parentheses, `if` or a function the last command is not the last for bash: it stays, and drops SIGTERM.
. ./pid1.sh
debian bash 5.2.15-2+b13
expect 'ready; still running after 4 s' TERM "$folder/root/bin/bash" -c "{ $folder/app; }"
expect 'ready; still running after 4 s' TERM "$folder/root/bin/bash" -c "if true; then $folder/app; fi"
expect 'ready; still running after 4 s' TERM "$folder/root/bin/bash" -c "f() { $folder/app; }; f"
finish
