#!/bin/bash
# Builds a Kafka image without pulling one. It uses Debian from the apt source of this machine, and
# the cached Kafka jars.
# usage: build-kafka-image.sh [TAG]
# Run it as root, with debootstrap and a Docker daemon. Then run the tests with KAFKA_TEST_IMAGE=TAG.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# testcontainers compares the tag with Confluent versions. From 8.0.0 on, it starts a combined
# broker and controller.
tag=${1:-local/kafka:8.2.0}
jars=$(cd "$here/../../../.." && npx --no-install node deploy/tools/local/container-image/fetch-jars.ts)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

apt_source=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' | awk '/ bookworm main/ { print $1; exit }')
debootstrap --variant=minbase --include=openjdk-17-jre-headless bookworm "$root" "$apt_source" > "$work/log" 2>&1 || {
  tail "$work/log" >&2
  exit 1
}
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale,info}

mkdir -p "$root/opt/kafka" "$root/var/lib/kafka/data"
cp -r "$jars/lib" "$jars/formatted" "$here/../log4j2.properties" "$root/opt/kafka/"
install -D -m 755 "$here/run" "$root/etc/confluent/docker/run"
tar -C "$root" -c . | docker import --change 'CMD ["/etc/confluent/docker/run"]' --change 'EXPOSE 9092' - "$tag"
docker images "$tag"
