#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The lab's runner: what goes wrong is said and ends everything, what goes well
# is reported. Runs on the host.
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/tools/common.sh"

lab=$LIB_TOP/tools/lab/lab
seed=7340033 # by which our guests are told from others

# experiment BODY: an experiment whose schemes do that
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

# check_run WHAT STATUS TEXT ARGUMENT...: lab run of the trial ends so, and says something that matches TEXT
check_run() {
	local what=$1 want=$2 text=$3 status=0
	shift 3
	timeout 300 "$lab" run "$dir/trial.py" --seed $seed --out "$TMP/out" "$@" >"$TMP/table" 2>"$TMP/err" || status=$?
	if [ $status -eq "$want" ] && grep -qE "$text" "$TMP/err" "$TMP/table"; then
		ok "$what"
	else
		not_ok "$what" "status $status, not $want; or nothing like '$text': $(tail -n 40 "$TMP/table" "$TMP/err")"
	fi
}

# guests: how many of our guests run
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

# what takes its time, so that the limits of time are the guests' only
"$LIB_TOP/tools/vm/modules" uml >/dev/null
"$LIB_TOP/tools/vm/modules" uml-debug >/dev/null
make -s -C "$LIB_TOP/tools/lab"

experiment "measure(lab)" 1
check_run "an unknown parameter is named, and all that exist" 2 "no parameter 'sender'.*senders time" --set sender=1
check_run "a bad value is named, and what is allowed" 2 "time: '2' is no time.*'ms'" --set time=2
check_run "an unknown scheme is named" 2 "no scheme 'reno'.*cubic dctcp" --scheme reno
check_run "a run succeeds" 0 "holds +bytes"
check "each scheme has its files" test -s "$TMP/out/cubic/queue.csv" -a -s "$TMP/out/dctcp/flows.csv"
check "and its trace events" grep -qE "^[0-9]+,AF_INET,10.0.0.2:20000,10.0.0.3:[0-9]+,0x0,1448," "$TMP/out/dctcp/segments.csv"
cp -r "$TMP/out" "$TMP/first"
check "results can be shown again" "$lab" plot "$TMP/out"
check "and are the same" diff -r "$TMP/first" "$TMP/out"
check_run "the smallest setting runs in the debug kernel" 0 "holds +bytes" --small --kernel uml-debug --scheme dctcp
check_eq "only the schemes asked for are there" "$(cd "$TMP/out" && echo */)" "dctcp/"

experiment "measure(lab)" 1000
check_run "a claim that fails gives status 1" 1 "FAILS +bytes"
experiment "nothing()" 1
check_run "an error in the experiment gives its traceback" 125 "NameError: name 'nothing'"
experiment 'topo.run("busybox", "reboot", "-f")' 1
check_run "a guest that ends too early is broken" 125 "ended before COMMAND did"
check "its console is shown" grep -q "console of the guest" "$TMP/err"
experiment "while lab.scheme == 'cubic': pass" 1
check_run "a guest that makes no progress is stuck" 125 "cubic: stuck" --stall 15 -j 1
check "the console of the stuck guest is shown" grep -q "cubic: .*console of the guest" "$TMP/err"
check_run "a guest has a limit of time" 125 "did not end within 5 s" --timeout 5
check_eq "the other guest is ended with the broken one" "$(guests)" 0

experiment "while True: pass" 1
"$lab" run "$dir/trial.py" --seed $seed --out "$TMP/out" >/dev/null 2>&1 &
pid=$!
check "guests are started" wait_for 120 running
kill -TERM $pid
status=0
wait $pid || status=$?
check_eq "a run that is told to end does" $status 130
check_eq "no guest is left of it" "$(guests)" 0

# the Python block of howto/lab.rst
sed -n '/^.. code-block:: python/,/^[^ .]/s/^   //p' "$LIB_TOP/Documentation/howto/lab.rst" >"$dir/trial.py"
check_run "the example of howto/lab.rst runs" 0 "^dctcp +[0-9.]+ +[0-9]+" --small

ping='ip netns exec h1 busybox ping -c 101 10.0.0.3 | grep received'
printf '%s\n' 'date +%s' "$ping" 'date +%s' 'exit 3' >"$TMP/commands"
status=0
timeout 300 "$lab" shell --seed $seed <"$TMP/commands" >"$TMP/shell" 2>"$TMP/err" || status=$?
check_eq "the shell gives the status of exit" $status 3
check "its hosts reach each other" grep -q "101 packets received" "$TMP/shell"
check_eq "100 s of virtual time pass in it" $(($(sed -n 3p "$TMP/shell") - $(sed -n 1p "$TMP/shell"))) 100
finish
