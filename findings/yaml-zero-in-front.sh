# `terminationGracePeriodSeconds: 060` is 48 seconds for a reader of YAML 1.1 (kubectl, Helm, PyYAML, js-yaml 3), which takes a
# zero in front for octal, and 60 for a reader of YAML 1.2 (js-yaml 4, yaml). A tool that checks the manifest sees another
# grace period than the cluster.
. ./pid1.sh
grace='terminationGracePeriodSeconds: 060'
reads() {
  wanted=$1; shift
  seen=$(cd "$folder" && "$@" "$grace")
  echo "read $grace"
  echo "  seen: $seen"
  [ "$seen" = "$wanted" ] || { echo "  CHANGED, it was: $wanted"; changed=1; }
}
npm_package js-yaml 3.14.1
reads 48 node -p 'require("js-yaml").safeLoad(process.argv[1]).terminationGracePeriodSeconds'
npm_package js-yaml 4.1.0
reads 60 node -p 'require("js-yaml").load(process.argv[1]).terminationGracePeriodSeconds'
npm_package yaml 2.8.1
reads 60 node -p 'require("yaml").parse(process.argv[1]).terminationGracePeriodSeconds'
debian python3-yaml 6.0-3+b2
export PYTHONPATH="$folder/root/usr/lib/python3/dist-packages"
reads 48 python3 -c 'import sys, yaml; print(yaml.safe_load(sys.argv[1])["terminationGracePeriodSeconds"])'
finish
