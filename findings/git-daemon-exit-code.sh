# `git daemon` passes a signal on to the server that it started, and then ends itself by the same signal. As PID 1 it cannot:
# it ends with exit code 128. As the child of an init the same stop is reported as 143.
. ./pid1.sh
debian git 1:2.39.5-0+deb12u3
debian tini 0.19.0-1+b3
mkdir "$folder/repositories"
export GIT_EXEC_PATH="$folder/root/usr/lib/git-core"
git_daemon() {
  wanted=$1; shift
  expect "$wanted" TERM "$@" "$folder/root/usr/bin/git" daemon --listen=127.0.0.1 --port=49418 \
    --base-path="$folder/repositories"
}
git_daemon '; exit 128'
git_daemon '; exit 143' "$folder/root/usr/bin/tini" --
finish
