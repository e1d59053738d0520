# nats-server before 2.15 ends with exit code 1 on SIGTERM, and with 0 on SIGINT: both are its normal end.
. ./pid1.sh
debian nats-server 2.9.10-1+b3
expect '; exit 1' TERM "$folder/root/usr/sbin/nats-server" --addr 127.0.0.1 --port 41222
expect '; exit 0' INT "$folder/root/usr/sbin/nats-server" --addr 127.0.0.1 --port 41222
finish
