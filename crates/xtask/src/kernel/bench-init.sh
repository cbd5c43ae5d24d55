#!/bin/busybox sh
# The first program of the guest of `cargo xtask bench-guest`. Lines that begin with @ are judged.
export PATH=/bin HOME=/root
/bin/busybox mkdir -p /proc /sys /dev /tmp /out
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t cgroup2 none /sys/fs/cgroup
# A group of somebody else, whose name is like ours.
mkdir /sys/fs/cgroup/fieldline-bench.other

groups() { find /sys/fs/cgroup -mindepth 1 -type d | grep -vc 'fieldline-bench.other$'; }
value() { sed -n "s/^cgroup-tree,\"[^\"]*\",$2,\([0-9.]*\),.*/\1/p" "$1"; }

for shape in "3 10" "5 4"; do
	set -- $shape
	run="fieldline bench cgroup-tree --depth $1 --width $2 --runs 1 --for 6 --settle 2 -o /out/$1"
	$run
	echo "@exit $?"
	file=/out/$1/run-001.csv
	echo "@usage d$1w$2 $(value $file usage) throttled $(value $file 'throttled periods') of $(value $file periods)"
	echo "@left $(groups)"
	cat $file
done
# The runs that are there are not repeated.
$run | grep -c '^run ' | sed 's/^/@repeated /'

for signal in TERM KILL; do
	fieldline bench cgroup-tree --runs 3 --for 60 -o /out/ended &
	sleep 5
	kill -$signal $!
	wait $!
	echo "@$signal $? $(groups)"
done
fieldline bench cgroup-tree --clean
echo "@exit $?"
echo "@left $(groups)"
[ -d /sys/fs/cgroup/fieldline-bench.other ] && echo "@other kept"
poweroff -f
