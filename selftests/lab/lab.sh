#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The lab's runner: errors end the run with a message, and successful runs are reported. Runs on the host.
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/tools/common.sh"

lab=$LIB_TOP/tools/lab/lab
seed=7340033 # identifies the guests of this test

# experiment BODY BAR: write an experiment whose guest() is BODY and whose claim needs BAR bytes per ns
experiment() {
	cat >"$dir/trial.py" <<-END
		"""A trial."""
		from closlab import topo
		from closlab.params import Param
		PARAMS = [Param("senders", "count", "2", "hosts that send"), Param("time", "time", "2ms", "measured")]
		SMALL = {"senders": "1"}
		SCHEMES = ("cubic", "dctcp")
		def guest(lab):
		    $1
		def measure(lab):
		    net = topo.star(lab.params.senders + 1, 10 * topo.GBIT, 1000)
		    net.build()
		    lab.expect(lab.params.time)
		    lab.sample("queue.csv", 10000, net.switch_ports())
		    lab.trace("segments.csv", "tcp:tcp_probe")
		    lab.traffic(net, "--time", "%dns" % lab.params.time, "--flows", lab.path("flows.csv"),
		                "bulk", "src=h2", "dst=h1", "cc=" + lab.scheme)
		def report(run):
		    received = {s: sum(run.csv(s, "flows.csv")["received_bytes"]) for s in run.schemes}
		    run.table(("scheme", "bytes"), list(received.items()))
		    run.claim("bytes", "data arrives", min(received.values()), ">= %d" % ($2 * run.params.time))
		    run.figure("bytes")[1].bar(received.keys(), received.values())
	END
}

# check_run NAME STATUS TEXT ARGUMENT...: check that "lab run" exits with STATUS and prints text that matches TEXT
check_run() {
	local name=$1 expected=$2 text=$3 status=0
	shift 3
	timeout 300 "$lab" run "$dir/trial.py" --seed $seed --out "$TMP/out" "$@" >"$TMP/table" 2>"$TMP/err" || status=$?
	if [ $status -eq "$expected" ] && grep -qE "$text" "$TMP/err" "$TMP/table"; then
		ok "$name"
	else
		not_ok "$name" \
			"status $status, expected $expected; or no match for '$text': $(tail -n 40 "$TMP/table" "$TMP/err")"
	fi
}

# guests: number of running guests of this test
guests() {
	local n=0 f
	for f in /proc/[0-9]*/environ; do
		! grep -qaz "^CLOSNET_SEED=$seed$" "$f" 2>/dev/null || n=$((n + 1))
	done
	echo $n
}

# shellcheck disable=SC2317 # called by wait_for
running() { [ "$(guests)" -gt 0 ]; }

mkdir -p "$CLOSNET_CACHE"
dir=$(mktemp -d "$CLOSNET_CACHE/trial.XXXXXX")
defer "rm -rf '$dir'"

# build everything first, so that time limits apply only to the guests
"$LIB_TOP/tools/vm/modules" uml >/dev/null
"$LIB_TOP/tools/vm/modules" uml-debug >/dev/null
make -s -C "$LIB_TOP/tools/lab"

experiment "measure(lab)" 1
check_run "error of an unknown parameter names it and all parameters" \
	2 'unknown parameter "sender".*senders time' --set sender=1
check_run "error of a bad value names it and the allowed ones" 2 'time: "2" is not a time.*"ms"' --set time=2
check_run "error of an unknown scheme names it and all schemes" 2 'unknown scheme "reno".*cubic dctcp' --scheme reno
check_run "a run with a claim that holds exits with 0" 0 "holds +bytes"
check "each scheme has its files" test -s "$TMP/out/cubic/queue.csv" -a -s "$TMP/out/dctcp/flows.csv"
check "a run records trace events" \
	grep -qE "^[0-9]+,AF_INET,10.0.0.2:20000,10.0.0.3:[0-9]+,0x0,1448," "$TMP/out/dctcp/segments.csv"
cp -r "$TMP/out" "$TMP/first"
check "lab plot reports old results" "$lab" plot "$TMP/out"
check "lab plot writes identical files" diff -r "$TMP/first" "$TMP/out"
check_run "the smallest settings run in the debug kernel" 0 "holds +bytes" --small --kernel uml-debug --scheme dctcp
check_eq "a run has only the requested schemes" "$(cd "$TMP/out" && echo */)" "dctcp/"
check_run "error of a bad clock rate names it and the range" 2 'bad clock rate "3".*ghz' --cpu 3
check_run "a slow CPU of the hosts makes a claim fail" 1 "FAILS +bytes" --cpu 0.1ghz --scheme dctcp

# sweep ARGUMENT...: sweep the trial's seeds 1 to 5
sweep() { "$lab" sweep "$dir/trial.py" --seeds 1..5 --scheme dctcp --out "$TMP/sweep" "$@" 2>"$TMP/err"; }

check "a sweep runs all seeds and combinations" sweep --set senders=1,2
check_eq "claims of a sweep are judged for each combination" \
	"$(cut -d , -f 1,2,7 "$TMP/sweep/claims.csv" | tail -n 2 | tr '\n' ' ')" \
	"senders=1,bytes,holds senders=2,bytes,holds "
check "digests of a sweep's results are right" \
	sh -c "cd '$TMP/sweep/senders=2/seed-5' && sha256sum --quiet -c SHA256SUMS"
cp -r "$TMP/sweep" "$TMP/whole"
rm -r "$TMP/sweep/senders=1/seed-4"
touch "$TMP/sweep/senders=1/seed-3/kept"
sweep --set senders=1,2 --list >"$TMP/jobs"
check_eq "lab sweep --list prints the missing runs" "$(grep -c -- "--seed 4 .*senders=1" "$TMP/jobs")/$(wc -l <"$TMP/jobs")" 1/1
check "a job of the list runs" sh -c "cd '$LIB_TOP' && sh '$TMP/jobs'"
check "a sweep resumes" sweep --set senders=1,2
check "complete runs are kept" test -e "$TMP/sweep/senders=1/seed-3/kept"
check "a resumed sweep has the same results" diff -r -x inputs.json -x kept "$TMP/whole" "$TMP/sweep"

experiment "measure(lab)" 1000
check_run "a run with a claim that fails exits with 1" 1 "FAILS +bytes"
experiment "nothing()" 1
check_run "an exception in an experiment prints its traceback" 125 "NameError: name 'nothing'"
experiment 'topo.run("busybox", "reboot", "-f")' 1
check_run "a guest that ends too early is reported as broken" 125 "ended before COMMAND did"
check "the console of a broken guest is printed" grep -q "console of the guest" "$TMP/err"
experiment 'measure(lab) if lab.scheme == "dctcp" else nothing()' 1
check_run "a failed scheme is reported" 125 "cubic: failed with status 1"
check "the report has the other scheme" grep -qE "holds +bytes" "$TMP/table"
experiment "while lab.scheme == 'cubic': pass" 1
check_run "a guest without progress is reported as stuck" 125 "cubic: stuck" --stall 15 -j 1
check "the console of a stuck guest is printed" grep -q "cubic: .*console of the guest" "$TMP/err"
check_run "a guest that exceeds its time limit is reported" 125 "did not end within 5 s" --timeout 5
check_eq "all guests are ended with a broken one" "$(guests)" 0

experiment "while True: pass" 1
"$lab" run "$dir/trial.py" --seed $seed --out "$TMP/out" >/dev/null 2>&1 &
pid=$!
check "guests of an endless run are started" wait_for 120 running
kill -TERM $pid
status=0
wait $pid || status=$?
check_eq "a run ends with 130 after SIGTERM" $status 130
check_eq "no guest is left after SIGTERM" "$(guests)" 0

# the Python block of howto/lab.rst
sed -n '/^.. code-block:: python/,/^[^ .]/s/^   //p' "$LIB_TOP/Documentation/howto/lab.rst" >"$dir/trial.py"
check_run "the example of howto/lab.rst runs" 0 "^dctcp +[0-9.]+ +[0-9]+" --small

ping='ip netns exec h1 busybox ping -c 101 10.0.0.3 | grep received'
printf '%s\n' 'date +%s' "$ping" 'date +%s' 'exit 3' >"$TMP/commands"
status=0
timeout 300 "$lab" shell --seed $seed <"$TMP/commands" >"$TMP/shell" 2>"$TMP/err" || status=$?
check_eq "lab shell exits with the shell's status" $status 3
check "hosts of lab shell reach each other" grep -q "101 packets received" "$TMP/shell"
check_eq "100 s of virtual time pass in lab shell" $(($(sed -n 3p "$TMP/shell") - $(sed -n 1p "$TMP/shell"))) 100

qdisc='tc -n h1 qdisc replace dev eth0 root'
printf '%s\n' 'modprobe tcp_timely && echo probed' "$qdisc ndp && echo ndp" "$qdisc dcqcn && echo dcqcn" exit \
	>"$TMP/commands"
timeout 300 "$lab" shell --seed $seed <"$TMP/commands" >"$TMP/shell" 2>"$TMP/err"
check_eq "lab shell finds closnet's modules by modprobe and by kind of qdisc" \
	"$(tr '\n' ' ' <"$TMP/shell")" "probed ndp dcqcn " "$(<"$TMP/err")"

for kind in rxe siw; do
	rping='rping -a 10.0.0.2 -S 65000 -C 20'
	printf '%s\n' "ip netns exec h1 $rping -s >/dev/null 2>&1 & ip netns exec h2 $rping -c -v | grep -c 'ping data: rdma-ping-19'" \
		'wait $!' 'exit $?' >"$TMP/commands"
	status=0
	timeout 300 "$lab" shell --seed $seed "star(2, 10 * GBIT, 1000, mtu=4200).rdma('$kind')" <"$TMP/commands" \
		>"$TMP/shell" 2>"$TMP/err" || status=$?
	check_eq "rping runs 20 rounds in lab shell over $kind" "$status $(<"$TMP/shell")" "0 1"
done

# more than the watchdog's 10 s
printf '%s\n' 'ip netns exec h1 iperf3 -s -D >/dev/null' 'ip netns exec h2 iperf3 -c 10.0.0.2 -t 1' >"$TMP/commands"
# the guest goes on until it is interrupted
timeout -s INT 60 "$lab" shell --seed $seed <"$TMP/commands" >"$TMP/shell" 2>"$TMP/err" || true
check "lab shell names a program that polls" \
	grep -q 'iperf3 -c.*without sleeping, so virtual time stands still' "$TMP/err"
check_eq "no guest is left after lab shell" "$(guests)" 0
finish
