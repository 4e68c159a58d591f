// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scenarios of the lab's experiment "crosscheck" in ns-3 3.37, the simulator of Debian 12
 *
 * Writes the CSV files that the lab's programs write, so that the experiment's report() reads both.
 *
 * Links are Ethernet as in the lab. ns-3's point-to-point header has 2 bytes, and TCP has no
 * timestamps here, because ns-3 derives round-trip times from them in whole milliseconds. Gap and
 * delay of the links stand for the missing bytes: a packet occupies a link as long as in the lab,
 * and arrives at the same time.
 */
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <unordered_map>
#include <vector>

#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

using namespace ns3;

static const unsigned TIMESTAMPS = 12;	/* bytes of TCP's option, which is off */
static const unsigned PPP = 2;
static const unsigned ARRIVAL = 14 + 8 + 4;	/* Ethernet header, preamble, FCS */
static const unsigned WIRE = ARRIVAL + 12;	/* and the gap between frames */
static const unsigned FRAME = 1514;
static const unsigned MSS = 1448;
static const uint16_t PORT = 20000;
static const uint16_t FIRST_PORT = 30000;
static const unsigned CHUNK = 65536;
static const unsigned SERIES = 10;	/* samples in the warm-up and in the measurement */

struct Options {
	std::string scenario, cc = "dctcp", out = ".", name = "case", pairs;
	uint64_t seed = 1, rate = 10000000000, delay = 0, flows = 2, arity = 4, bytes = 0, rounds = 1;
	uint64_t buffer = 200, k = 30, warmup = 0, time = 0, every = 0, jitter = 0, rto_min = 5000000;
	uint64_t delack = 500000, window = 4 << 20;
};

static Options opt;
static Ptr<UniformRandomVariable> draw;

static bool Marks() { return opt.cc == "dctcp"; }

/* ---- routing: shortest paths, and ECMP by the five-tuple as in the lab's switches */

class Routes : public Ipv4RoutingProtocol {
public:
	Ptr<Ipv4> ip;
	uint32_t seed = 0;
	std::unordered_map<uint32_t, std::vector<uint32_t>> hops;	/* destination: interfaces */
	std::unordered_map<uint64_t, Ptr<Ipv4Route>> made;

	static TypeId GetTypeId()
	{
		static TypeId id = TypeId("closnet::Routes").SetParent<Ipv4RoutingProtocol>();
		return id;
	}

	Ptr<Ipv4Route> Route(Ipv4Address to, uint32_t hash)
	{
		auto found = hops.find(to.Get());

		if (found == hops.end())
			return nullptr;
		uint32_t port = found->second[hash % found->second.size()];
		Ptr<Ipv4Route> &route = made[(uint64_t)to.Get() << 32 | port];
		if (!route) {
			route = Create<Ipv4Route>();
			route->SetDestination(to);
			route->SetSource(ip->GetAddress(port, 0).GetLocal());
			route->SetGateway(Ipv4Address::GetZero());
			route->SetOutputDevice(ip->GetNetDevice(port));
		}
		return route;
	}

	Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header &header, Ptr<NetDevice>,
				   Socket::SocketErrno &error) override
	{
		Ptr<Ipv4Route> route = Route(header.GetDestination(), 0);

		error = route ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
		return route;
	}

	bool RouteInput(Ptr<const Packet> p, const Ipv4Header &header, Ptr<const NetDevice> in,
			UnicastForwardCallback forward, MulticastForwardCallback,
			LocalDeliverCallback deliver, ErrorCallback) override
	{
		uint32_t port = ip->GetInterfaceForDevice(in);

		if (ip->IsDestinationAddress(header.GetDestination(), port)) {
			deliver(p, header, port);
			return true;
		}
		uint8_t key[16] = {};
		header.GetSource().Serialize(key);
		header.GetDestination().Serialize(key + 4);
		p->CopyData(key + 8, 4);	/* TCP's ports */
		key[12] = seed;
		key[13] = seed >> 8;
		key[14] = seed >> 16;
		key[15] = seed >> 24;
		Ptr<Ipv4Route> route = Route(header.GetDestination(), Hash32((char *)key, sizeof(key)));
		if (!route)
			return false;
		forward(route, p, header);
		return true;
	}

	void NotifyInterfaceUp(uint32_t) override {}
	void NotifyInterfaceDown(uint32_t) override {}
	void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
	void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
	void SetIpv4(Ptr<Ipv4> given) override { ip = given; }
	void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override {}
};

class RoutesHelper : public Ipv4RoutingHelper {
public:
	RoutesHelper *Copy() const override { return new RoutesHelper(*this); }
	Ptr<Ipv4RoutingProtocol> Create(Ptr<Node>) const override { return CreateObject<Routes>(); }
};

/* ---- network */

struct Network {
	struct End { uint32_t peer, interface; };

	NodeContainer nodes;
	std::vector<std::vector<End>> ends;	/* of each node */
	std::vector<uint32_t> hosts;		/* nodes */
	std::map<std::pair<uint32_t, uint32_t>, Ptr<QueueDisc>> queues;	/* of switch ports, by node and peer */

	explicit Network(uint32_t count) : ends(count)
	{
		nodes.Create(count);
		InternetStackHelper stack;
		stack.SetIpv6StackInstall(false);
		stack.SetRoutingHelper(RoutesHelper());
		stack.Install(nodes);
	}

	Ptr<Ipv4> Ip(uint32_t node) { return nodes.Get(node)->GetObject<Ipv4>(); }
	Ptr<Node> Host(uint32_t i) { return nodes.Get(hosts[i]); }
	Ipv4Address Address(uint32_t i) { return Ip(hosts[i])->GetAddress(1, 0).GetLocal(); }

	void Link(uint32_t a, uint32_t b)
	{
		PointToPointHelper p2p;
		Time byte = PicoSeconds(8000000000000 / opt.rate);

		p2p.SetDeviceAttribute("DataRate", DataRateValue(DataRate(opt.rate)));
		p2p.SetDeviceAttribute("InterframeGap", TimeValue((TIMESTAMPS + WIRE - PPP) * byte));
		p2p.SetChannelAttribute("Delay",
					TimeValue(NanoSeconds(opt.delay) + (TIMESTAMPS + ARRIVAL - PPP) * byte));
		/* one packet, so that the others queue in the queue disc */
		p2p.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
		NetDeviceContainer devices = p2p.Install(nodes.Get(a), nodes.Get(b));
		Queue(a, b, devices.Get(0));
		Queue(b, a, devices.Get(1));
		static Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
		addresses.Assign(devices);
		addresses.NewNetwork();
		ends[a].push_back({ b, Ip(a)->GetNInterfaces() - 1 });
		ends[b].push_back({ a, Ip(b)->GetNInterfaces() - 1 });
	}

	bool IsHost(uint32_t node) { return std::find(hosts.begin(), hosts.end(), node) != hosts.end(); }

	/* Red as in the lab: both thresholds at k, and half of the average from the last packet. */
	void Queue(uint32_t node, uint32_t peer, Ptr<NetDevice> device)
	{
		TrafficControlHelper tc;
		std::string size = std::to_string(IsHost(node) ? 100000 : opt.buffer) + "p";

		if (IsHost(node) || !Marks())
			tc.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(size));
		else
			tc.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", StringValue(size),
					    "MinTh", DoubleValue(opt.k), "MaxTh", DoubleValue(opt.k),
					    "QW", DoubleValue(0.5), "Gentle", BooleanValue(false),
					    "UseEcn", BooleanValue(true), "UseHardDrop", BooleanValue(false),
					    "MeanPktSize", UintegerValue(MSS + 40),
					    "LinkBandwidth", DataRateValue(DataRate(opt.rate)));
		queues[{ node, peer }] = tc.Install(device).Get(0);
	}

	/* All shortest paths to each host */
	void Route()
	{
		for (uint32_t node = 0; node < ends.size(); node++)
			Of(node)->seed = opt.seed * 1000003 + node;
		for (uint32_t i = 0; i < hosts.size(); i++) {
			std::vector<uint32_t> distance(ends.size(), UINT32_MAX), next{ hosts[i] };
			distance[hosts[i]] = 0;
			for (size_t at = 0; at < next.size(); at++)
				for (const End &end : ends[next[at]])
					if (distance[end.peer] == UINT32_MAX) {
						distance[end.peer] = distance[next[at]] + 1;
						next.push_back(end.peer);
					}
			for (uint32_t node = 0; node < ends.size(); node++)
				for (const End &end : ends[node])
					if (distance[end.peer] + 1 == distance[node])
						Of(node)->hops[Address(i).Get()].push_back(end.interface);
		}
	}

	Ptr<Routes> Of(uint32_t node) { return DynamicCast<Routes>(Ip(node)->GetRoutingProtocol()); }
};

static Network *Star(uint32_t hosts)
{
	Network *net = new Network(hosts + 1);

	for (uint32_t i = 1; i <= hosts; i++)
		net->hosts.push_back(i);
	for (uint32_t i = 1; i <= hosts; i++)
		net->Link(i, 0);
	return net;
}

/* Switches 0 and 1; hosts 0 to pairs - 1 send to the others. */
static Network *Dumbbell(uint32_t pairs)
{
	Network *net = new Network(2 + 2 * pairs);

	for (uint32_t i = 0; i < 2 * pairs; i++)
		net->hosts.push_back(2 + i);
	for (uint32_t i = 0; i < 2 * pairs; i++)
		net->Link(2 + i, i / pairs);
	net->Link(0, 1);
	return net;
}

/* The nodes are cores, then aggregation and edge switches by pods, then hosts. */
static Network *FatTree(uint32_t k)
{
	uint32_t half = k / 2, cores = half * half, switches = cores + k * k;
	Network *net = new Network(switches + k * cores);

	for (uint32_t i = 0; i < k * cores; i++)
		net->hosts.push_back(switches + i);
	for (uint32_t pod = 0; pod < k; pod++)
		for (uint32_t i = 0; i < half; i++) {
			uint32_t aggregation = cores + pod * k + i, edge = aggregation + half;
			for (uint32_t j = 0; j < half; j++) {
				net->Link(aggregation, i * half + j);
				net->Link(edge, cores + pod * k + j);
				net->Link(switches + (pod * half + i) * half + j, edge);
			}
		}
	return net;
}

/* ---- traffic */

struct Flow {
	uint32_t number, src, dst, round;
	uint64_t left, received = 0;
	Time start, end;
	Ptr<Socket> socket;
};

static Network *net;
static std::vector<Flow *> flows;
static uint32_t running;
static void (*all_done)();

static void Fill(Ptr<Socket> socket, Flow *flow)
{
	while (Simulator::Now() >= flow->start && flow->left && socket->GetTxAvailable()) {
		uint32_t part = std::min<uint64_t>({ flow->left, socket->GetTxAvailable(), CHUNK });
		int sent = socket->Send(Create<Packet>(part));
		if (sent <= 0)
			return;
		flow->left -= opt.bytes ? sent : 0;
	}
	if (!flow->left)
		socket->Close();
}

static void Read(Flow *flow, Ptr<Socket> socket)
{
	while (Ptr<Packet> p = socket->Recv()) {
		if (!p->GetSize())
			return;
		flow->received += p->GetSize();
	}
	if (flow->received == opt.bytes && flow->end.IsZero()) {
		flow->end = Simulator::Now();
		if (!--running)
			all_done();
	}
}

static void Accepted(Ptr<Socket> socket, const Address &from)
{
	Flow *flow = flows[InetSocketAddress::ConvertFrom(from).GetPort() - FIRST_PORT];

	socket->SetRecvCallback(MakeBoundCallback(&Read, flow));
}

static void Listen(uint32_t host)
{
	Ptr<Socket> listener = Socket::CreateSocket(net->Host(host), TcpSocketFactory::GetTypeId());

	listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
	listener->Listen();
	listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address &>(), MakeCallback(&Accepted));
}

static void Connected(Flow *flow, Ptr<Socket> socket)
{
	Fill(socket, flow);
}

static void Failed(Flow *flow, Ptr<Socket>)
{
	NS_FATAL_ERROR("flow " << flow->number << " cannot connect");
}

static void Sendable(Flow *flow, Ptr<Socket> socket, uint32_t)
{
	Fill(socket, flow);
}

static void Open(Flow *flow)
{
	flow->socket = Socket::CreateSocket(net->Host(flow->src), TcpSocketFactory::GetTypeId());
	flow->socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), FIRST_PORT + flow->number));
	flow->socket->SetConnectCallback(MakeBoundCallback(&Connected, flow), MakeBoundCallback(&Failed, flow));
	flow->socket->SetSendCallback(MakeBoundCallback(&Sendable, flow));
	flow->socket->Connect(InetSocketAddress(net->Address(flow->dst), PORT));
}

static void Begin(Flow *flow)
{
	Fill(flow->socket, flow);
}

/*
 * Start a flow after @stagger, its position in the pattern, and a part of the jitter. @before: its connection is
 * opened at once.
 */
static void Start(uint32_t src, uint32_t dst, uint32_t round, Time stagger, bool before)
{
	Flow *flow = new Flow;
	Time wait = stagger + NanoSeconds(draw->GetInteger(0, opt.jitter));

	flow->number = flows.size();
	flow->src = src;
	flow->dst = dst;
	flow->round = round;
	flow->left = opt.bytes ? opt.bytes : UINT64_MAX;
	flow->start = Simulator::Now() + wait;
	flows.push_back(flow);
	running++;
	Simulator::Schedule(before ? Time(0) : wait, &Open, flow);
	if (before)
		Simulator::Schedule(wait, &Begin, flow);
}

static void Round()
{
	static uint32_t done;

	if (done == opt.rounds) {
		Simulator::Stop();
		return;
	}
	for (uint32_t i = 0; i < opt.flows; i++)
		Start(1 + i, 0, done, NanoSeconds(i), false);
	done++;
}

/* ---- measurement */

static std::ofstream series, queue;
static Ptr<QueueDisc> sampled;

static void WriteSeries(Time every)
{
	for (const Flow *flow : flows)
		series << Simulator::Now().GetNanoSeconds() << "," << flow->number << "," << flow->received << "\n";
	Simulator::Schedule(every, &WriteSeries, every);
}

static void WriteQueue(Time every)
{
	const QueueDisc::Stats &stats = sampled->GetStats();

	queue << Simulator::Now().GetNanoSeconds() << ",bottleneck," << sampled->GetNPackets() << "," <<
		sampled->GetNPackets() * FRAME << "," << stats.nTotalSentPackets * FRAME << "," <<
		stats.nTotalDroppedPackets << "," << stats.nTotalMarkedPackets << ",0,0\n";
	if (!every.IsZero())
		Simulator::Schedule(every, &WriteQueue, every);
}

static void OpenFile(std::ofstream &file, const std::string &kind, const char *header)
{
	file.open(opt.out + "/" + kind + "-" + opt.name + ".csv");
	if (!file)
		NS_FATAL_ERROR("cannot write to " << opt.out);
	file << header << "\n";
}

static void SampleQueue(uint32_t node, uint32_t peer)
{
	sampled = net->queues[{ node, peer }];
	OpenFile(queue, "queue", "time_ns,port,packets,bytes,sent_bytes,drops,marks,trims,pauses");
	Simulator::ScheduleNow(&WriteQueue, NanoSeconds(opt.every));
}

static void SampleSeries()
{
	Time every = NanoSeconds(std::gcd(opt.warmup, opt.time) / SERIES);

	OpenFile(series, "series", "time_ns,flow,received_bytes");
	Simulator::Schedule(every, &WriteSeries, every);
	Simulator::Stop(NanoSeconds(opt.warmup + opt.time + 1));
}

static void WriteFlows()
{
	std::ofstream file;

	OpenFile(file, "flows", "flow,round,src,dst,bytes,start_ns,fct_ns");
	for (const Flow *flow : flows)
		file << flow->number << "," << flow->round << ",h" << flow->src + 1 << ",h" << flow->dst + 1 << "," <<
			flow->received << "," << flow->start.GetNanoSeconds() << "," <<
			(flow->end.IsZero() ? "" : std::to_string((flow->end - flow->start).GetNanoSeconds())) << "\n";
}

/* ---- scenarios */

static void RunDumbbell()
{
	net = Dumbbell(opt.flows);
	net->Route();
	for (uint32_t i = 0; i < opt.flows; i++) {
		Listen(opt.flows + i);
		Start(i, opt.flows + i, 0, MicroSeconds(i), true);
	}
	SampleQueue(0, 1);
	SampleSeries();
}

static void RunIncast()
{
	net = Star(1 + opt.flows);
	net->Route();
	Listen(0);
	all_done = Round;
	SampleQueue(0, 1);
	Simulator::ScheduleNow(&Round);
}

/* --pairs=1:5,2:7: the lab's host names without h */
static void RunPermutation()
{
	std::istringstream words(opt.pairs);
	unsigned int src, dst, i = 0;
	char sign;

	net = FatTree(opt.arity);
	net->Route();
	while (words >> src >> sign >> dst) {
		Listen(dst - 1);
		Start(src - 1, dst - 1, 0, MicroSeconds(i++), false);
		words >> sign;
	}
	SampleSeries();
}

static void SetTcp()
{
	static const std::map<std::string, std::string> controls = {
		{ "dctcp", "ns3::TcpDctcp" }, { "cubic", "ns3::TcpCubic" }, { "reno", "ns3::TcpLinuxReno" },
	};

	if (!controls.count(opt.cc))
		NS_FATAL_ERROR("unknown congestion control \"" << opt.cc << "\"");
	Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(controls.at(opt.cc))));
	Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(Marks() ? "On" : "Off"));
	Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
	Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
	Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(NanoSeconds(opt.rto_min)));
	Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
	Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS));
	Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
	Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
	Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(NanoSeconds(opt.delack)));
	Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(1)));
	Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(15));
	Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(opt.window));
	Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(opt.window));
}

int main(int argc, char **argv)
{
	static const std::map<std::string, void (*)()> scenarios = {
		{ "dumbbell", RunDumbbell }, { "incast", RunIncast }, { "permutation", RunPermutation },
	};
	CommandLine words;

	words.AddValue("scenario", "dumbbell, incast or permutation", opt.scenario);
	words.AddValue("cc", "dctcp, cubic or reno", opt.cc);
	words.AddValue("out", "directory of the CSV files", opt.out);
	words.AddValue("name", "of the case, in the files' names", opt.name);
	words.AddValue("seed", "of start times and ECMP hashes", opt.seed);
	words.AddValue("rate", "of all links, bit/s", opt.rate);
	words.AddValue("delay", "of each link, ns", opt.delay);
	words.AddValue("flows", "number of flows; incast: senders", opt.flows);
	words.AddValue("arity", "k of the fat tree", opt.arity);
	words.AddValue("pairs", "permutation: SRC:DST,...", opt.pairs);
	words.AddValue("bytes", "incast: bytes of a flow", opt.bytes);
	words.AddValue("rounds", "incast: number of rounds", opt.rounds);
	words.AddValue("buffer", "of a switch port, packets", opt.buffer);
	words.AddValue("k", "marking threshold of dctcp's ports, packets", opt.k);
	words.AddValue("warmup", "time before the measurement, ns", opt.warmup);
	words.AddValue("time", "duration of the measurement, ns", opt.time);
	words.AddValue("every", "interval of the samples, ns", opt.every);
	words.AddValue("jitter", "interval in which flows start, ns", opt.jitter);
	words.AddValue("rto-min", "TCP's shortest timeout, ns", opt.rto_min);
	words.AddValue("delack", "timer of delayed ACKs, ns", opt.delack);
	words.AddValue("window", "TCP's buffers, bytes", opt.window);
	words.Parse(argc, argv);
	if (!scenarios.count(opt.scenario))
		NS_FATAL_ERROR("unknown scenario \"" << opt.scenario << "\"");

	Time::SetResolution(Time::PS);
	RngSeedManager::SetRun(opt.seed);
	draw = CreateObject<UniformRandomVariable>();
	SetTcp();
	scenarios.at(opt.scenario)();
	Simulator::Run();
	if (sampled)
		WriteQueue(Time(0));
	WriteFlows();
	/* without Simulator::Destroy(): the process ends anyway */
	return 0;
}
