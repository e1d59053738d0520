# A Go program without a handler ends at SIGTERM even as PID 1, as Go's runtime catches it: with exit code 2, since no signal
# ends PID 1 that has no handler for it. Behind an init the same stop is reported as 143. Here it is a Prometheus exporter.
. ./pid1.sh
debian prometheus-mysqld-exporter 0.14.0-3+b5
debian tini 0.19.0-1+b3
export DATA_SOURCE_NAME='user:password@(127.0.0.1:3306)/'
expect '; exit 2' TERM "$folder/root/usr/bin/prometheus-mysqld-exporter" --web.listen-address=127.0.0.1:43119
expect '; exit 143' TERM "$folder/root/usr/bin/tini" -- \
  "$folder/root/usr/bin/prometheus-mysqld-exporter" --web.listen-address=127.0.0.1:43119
finish
