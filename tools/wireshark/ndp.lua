-- SPDX-License-Identifier: GPL-2.0-only
--
-- Wireshark dissector for closnet's NDP transport; net/ndp/wire.h defines the format
--
--	wireshark -X lua_script:ndp.lua		or: tshark
--
-- or copy it to ~/.local/lib/wireshark/plugins. Fields are named ndpt.*, because Wireshark
-- has another protocol ndp. ndpt.is_trimmed selects packets whose payload a switch has
-- trimmed, ndpt.is_returned packets that a switch has returned to the sender.
local ndp = Proto("ndpt", "Receiver-driven transport of messages (NDP)")

local PORT = 61199
local VERSION, VERSION_KEYED = 2, 3
local HEADER = 56		-- bytes
local TAG = 8			-- bytes, with VERSION_KEYED
local NACK_HEADER = 16		-- bytes that a NACK needs
local DATA, CONTROL, PROBE, ERROR, COOKIE = 1, 2, 3, 4, 5

local types = {
	[DATA] = "DATA", [CONTROL] = "CONTROL", [PROBE] = "PROBE", [ERROR] = "ERROR",
	[COOKIE] = "COOKIE",
}
local codes = { "no such port", "no such flow", "message given up by receiver",
	"message given up by sender", "no room for the message" }

local f = {
	version = ProtoField.uint8("ndpt.version", "Version", base.DEC, nil, 0xf0),
	type = ProtoField.uint8("ndpt.type", "Type", base.DEC, types, 0x0f),
	flags = ProtoField.uint8("ndpt.flags", "Flags", base.HEX),
	payload_len = ProtoField.uint16("ndpt.payload_len", "Payload length", base.DEC),
	flow_id = ProtoField.uint32("ndpt.flow_id", "Flow", base.HEX),
	seq = ProtoField.uint32("ndpt.seq", "Packet", base.DEC),
	path = ProtoField.uint8("ndpt.path", "Path", base.DEC),
	try_no = ProtoField.uint8("ndpt.try_no", "Transmission", base.DEC),
	check = ProtoField.uint16("ndpt.checksum", "Checksum of the first 16 bytes", base.HEX),
	check_rest = ProtoField.uint16("ndpt.checksum_rest", "Checksum of the rest", base.HEX),
	sport = ProtoField.uint16("ndpt.srcport", "Source port", base.DEC),
	dport = ProtoField.uint16("ndpt.dstport", "Destination port", base.DEC),
	prio = ProtoField.uint8("ndpt.prio", "Priority", base.DEC),
	dscp = ProtoField.uint8("ndpt.dscp", "DSCP of the packet in question", base.DEC, nil, 0xfc),
	ecn = ProtoField.uint8("ndpt.ecn", "ECN of the packet in question", base.DEC, nil, 0x03),
	code = ProtoField.uint8("ndpt.code", "Error", base.DEC, codes),
	reserved = ProtoField.bytes("ndpt.reserved", "Reserved"),
	msg_id = ProtoField.uint32("ndpt.msg_id", "Message", base.DEC),
	base = ProtoField.uint32("ndpt.base", "Oldest packet of interest", base.DEC),
	pull_target = ProtoField.uint32("ndpt.pull_target", "Wishes to be pulled", base.DEC),
	offset = ProtoField.uint64("ndpt.offset", "Offset in the message", base.DEC),
	msg_len = ProtoField.uint64("ndpt.msg_len", "Length of the message", base.DEC),
	msg_base = ProtoField.uint32("ndpt.msg_base", "Oldest message of interest", base.DEC),
	token = ProtoField.uint32("ndpt.token", "Token", base.HEX),
	ack_delay = ProtoField.uint8("ndpt.ack_delay", "Delay of the ACK in µs", base.DEC),
	ack_flow_id = ProtoField.uint32("ndpt.ack_flow_id", "Acknowledged flow", base.HEX),
	ack_seq = ProtoField.uint32("ndpt.ack_seq", "Acknowledged up to packet", base.DEC),
	ack_base = ProtoField.uint32("ndpt.ack_base", "All have come before packet", base.DEC),
	pull = ProtoField.uint32("ndpt.pull", "Pulled", base.DEC),
	sack = ProtoField.uint64("ndpt.sack", "Have come from there on", base.HEX),
	nack = ProtoField.uint64("ndpt.nack", "Have come trimmed from there on", base.HEX),
	trimmed = ProtoField.uint16("ndpt.trimmed_packets", "NACKs", base.DEC),
	window = ProtoField.uint16("ndpt.window", "May be sent unasked", base.DEC),
	tag = ProtoField.bytes("ndpt.tag", "Tag"),
	payload = ProtoField.bytes("ndpt.payload", "Payload"),
	is_trimmed = ProtoField.bool("ndpt.is_trimmed", "Trimmed"),
	is_returned = ProtoField.bool("ndpt.is_returned", "Returned to its sender"),
}

-- names and masks of NDP_DATA_* and NDP_CTL_*
local data_flags = {
	{ "SYN", 0x01 }, { "RTX", 0x02 }, { "LAST", 0x04 }, { "SPEC", 0x08 }, { "CARRIER", 0x10 },
}
local ctl_flags = {
	{ "ACK", 0x01 }, { "NACK", 0x02 }, { "PULL", 0x04 }, { "PROBED", 0x08 },
	{ "BARE", 0x10 }, { "FULL", 0x20 }, { "PING", 0x40 }, { "ROOM", 0x80 },
}
local flag_fields = {}

local function flag_field(flag)
	local name = flag[1]
	local field = ProtoField.bool("ndpt.flags." .. name:lower(), name, 8, nil, flag[2])

	flag_fields[name] = field
	f["flag_" .. name] = field
end

for _, flag in ipairs(data_flags) do flag_field(flag) end
for _, flag in ipairs(ctl_flags) do flag_field(flag) end
ndp.fields = f

local e = {
	checksum = ProtoExpert.new("ndpt.bad_checksum", "Checksum is wrong", expert.group.CHECKSUM,
				   expert.severity.ERROR),
	version = ProtoExpert.new("ndpt.other_version", "Another version of NDP",
				  expert.group.PROTOCOL, expert.severity.WARN),
	short = ProtoExpert.new("ndpt.short", "Too few bytes for a header", expert.group.MALFORMED,
				expert.severity.ERROR),
	reserved = ProtoExpert.new("ndpt.reserved_set", "Reserved, and not 0",
				   expert.group.PROTOCOL, expert.severity.WARN),
	trimmed = ProtoExpert.new("ndpt.trimmed", "A switch cut the payload off",
				  expert.group.SEQUENCE, expert.severity.NOTE),
	returned = ProtoExpert.new("ndpt.returned", "A switch sent the header back",
				   expert.group.SEQUENCE, expert.severity.NOTE),
}
ndp.experts = e

-- Internet checksum (RFC 1071) of an even number of bytes
local function checksum(tvb, from, len)
	local sum = 0

	for i = from, from + len - 2, 2 do
		sum = sum + tvb(i, 2):uint()
	end
	while sum > 0xffff do
		sum = sum % 0x10000 + math.floor(sum / 0x10000)
	end
	return 0xffff - sum
end

local function add_checksum(tree, field, tvb, at, from, len)
	local item = tree:add(field, tvb(at, 2))

	if checksum(tvb, from, len) == tvb(at, 2):uint() then
		item:append_text(" [right]")
		return
	end
	item:append_text(" [wrong]")
	item:add_proto_expert_info(e.checksum)
end

local function add_reserved(tree, tvb, at, len)
	local item = tree:add(f.reserved, tvb(at, len))

	for i = at, at + len - 1 do
		if tvb(i, 1):uint() ~= 0 then
			item:add_proto_expert_info(e.reserved)
			return
		end
	end
end

-- Add the flags. Return: names of the flags that are set
local function add_flags(tree, tvb, known)
	local value, names = tvb(1, 1):uint(), {}
	local sub = tree:add(f.flags, tvb(1, 1))

	for _, flag in ipairs(known) do
		sub:add(flag_fields[flag[1]], tvb(1, 1))
		if math.floor(value / flag[2]) % 2 == 1 then
			value = value - flag[2]
			names[#names + 1] = flag[1]
		end
	end
	if value ~= 0 then
		sub:add_proto_expert_info(e.reserved)
	end
	if #names > 0 then
		sub:append_text(" (" .. table.concat(names, ", ") .. ")")
	end
	return names
end

-- Does DATA carry an ACK?
local function is_carrier(tvb)
	return tvb(0, 1):bitfield(4, 4) == DATA and tvb(1, 1):bitfield(3, 1) == 1
end

-- Bytes 36 to 47 of DATA without an ACK, or of PROBE
local function add_part(tree, tvb, info)
	tree:add(f.offset, tvb(36, 6))
	tree:add(f.msg_len, tvb(42, 6))
	if tvb(0, 1):bitfield(4, 4) == DATA then
		info[#info + 1] = string.format("Msg=%u Offset=%s/%s", tvb(24, 4):uint(),
						tostring(tvb(36, 6):uint64()),
						tostring(tvb(42, 6):uint64()))
	end
end

-- Bytes 23 and 36 to 47 of DATA with an ACK: the first packet of a message
local function add_carried(tree, tvb, info)
	tree:add(f.ack_delay, tvb(23, 1))
	tree:add(f.ack_flow_id, tvb(36, 4))
	tree:add(f.ack_seq, tvb(40, 4))
	tree:add(f.msg_len, tvb(44, 4), UInt64(tvb(44, 4):uint()))
	info[#info + 1] = string.format("Msg=%u Offset=0/%u AckFlow=%08x AckSeq=%u",
					tvb(24, 4):uint(), tvb(44, 4):uint(), tvb(36, 4):uint(),
					tvb(40, 4):uint())
end

local function add_data(tree, tvb, info)
	tree:add(f.prio, tvb(22, 1))
	tree:add(f.msg_id, tvb(24, 4))
	tree:add(f.base, tvb(28, 4))
	tree:add(f.pull_target, tvb(32, 4))
	info[#info + 1] = string.format("Target=%u", tvb(32, 4):uint())
	if is_carrier(tvb) then
		add_carried(tree, tvb, info)
	else
		add_part(tree, tvb, info)
	end
	tree:add(f.msg_base, tvb(48, 4))
	tree:add(f.token, tvb(52, 4))
end

local function add_control(tree, tvb, info)
	tree:add(f.dscp, tvb(22, 1))
	tree:add(f.ecn, tvb(22, 1))
	tree:add(f.ack_base, tvb(24, 4))
	tree:add(f.pull, tvb(28, 4))
	tree:add(f.sack, tvb(32, 8))
	tree:add(f.nack, tvb(40, 8))
	tree:add(f.trimmed, tvb(48, 2))
	tree:add(f.window, tvb(50, 2))
	tree:add(f.token, tvb(52, 4))
	info[#info + 1] = string.format("Base=%u Pull=%u", tvb(24, 4):uint(), tvb(28, 4):uint())
end

local function add_error(tree, tvb, info)
	tree:add(f.code, tvb(22, 1))
	tree:add(f.msg_id, tvb(24, 4))
	add_reserved(tree, tvb, 28, 28)
	info[#info + 1] = codes[tvb(22, 1):uint()] or "unknown error"
end

local function add_cookie(tree, tvb)
	add_reserved(tree, tvb, 22, 1)
	add_reserved(tree, tvb, 24, 28)
	tree:add(f.token, tvb(52, 4))
end

local rest = {
	[DATA] = add_data, [PROBE] = add_data, [CONTROL] = add_control, [ERROR] = add_error,
	[COOKIE] = add_cookie,
}

-- Bytes 0 to 15
local function add_first(tree, tvb, info)
	local kind = tvb(0, 1):bitfield(4, 4)
	local known = kind == DATA and data_flags or kind == CONTROL and ctl_flags or {}
	local names

	tree:add(f.version, tvb(0, 1))
	tree:add(f.type, tvb(0, 1))
	names = add_flags(tree, tvb, known)
	tree:add(f.payload_len, tvb(2, 2))
	tree:add(f.flow_id, tvb(4, 4))
	tree:add(f.seq, tvb(8, 4))
	tree:add(f.path, tvb(12, 1))
	tree:add(f.try_no, tvb(13, 1))
	add_checksum(tree, f.check, tvb, 14, 0, 14)
	info[#info + 1] = types[kind] or "unknown type"
	if #names > 0 then
		info[#info + 1] = "[" .. table.concat(names, ", ") .. "]"
	end
	info[#info + 1] = string.format("Flow=%08x Seq=%u Path=%u Try=%u", tvb(4, 4):uint(),
					tvb(8, 4):uint(), tvb(12, 1):uint(), tvb(13, 1):uint())
end

-- Bytes before the payload
local function header_len(tvb)
	return tvb(0, 1):bitfield(0, 4) == VERSION_KEYED and HEADER + TAG or HEADER
end

-- Add marks of trimmed and returned packets. there: bytes of the packet that arrived
local function add_fate(tree, tvb, pinfo, there, info)
	local kind, len = tvb(0, 1):bitfield(4, 4), tvb(2, 2):uint()

	if kind == DATA and there < header_len(tvb) + len then
		tree:add(f.is_trimmed, true):set_generated():add_proto_expert_info(e.trimmed)
		info[#info + 1] = "trimmed"
	end
	if pinfo.src_port == PORT and pinfo.dst_port ~= PORT then
		tree:add(f.is_returned, true):set_generated():add_proto_expert_info(e.returned)
		info[#info + 1] = "returned"
	end
end

-- Bytes 16 to 55, and the payload
local function add_rest(tree, tvb, info)
	local add = rest[tvb(0, 1):bitfield(4, 4)]

	add_checksum(tree, f.check_rest, tvb, 16, 18, HEADER - 18)
	tree:add(f.sport, tvb(18, 2))
	tree:add(f.dport, tvb(20, 2))
	if not is_carrier(tvb) then
		add_reserved(tree, tvb, 23, 1)
	end
	if add then
		add(tree, tvb, info)
	end
	if header_len(tvb) > HEADER then
		tree:add(f.tag, tvb(HEADER, TAG))
	end
	if tvb:len() > header_len(tvb) then
		tree:add(f.payload, tvb(header_len(tvb)))
	end
end

function ndp.dissector(tvb, pinfo, root)
	local tree = root:add(ndp, tvb())
	local info = {}

	pinfo.cols.protocol = "NDP"
	if tvb:len() < NACK_HEADER then
		tree:add_proto_expert_info(e.short)
		pinfo.cols.info = "too short"
		return
	end
	if tvb(0, 1):bitfield(0, 4) ~= VERSION and tvb(0, 1):bitfield(0, 4) ~= VERSION_KEYED then
		tree:add(f.version, tvb(0, 1)):add_proto_expert_info(e.version)
		pinfo.cols.info = "version " .. tvb(0, 1):bitfield(0, 4)
		return
	end
	add_first(tree, tvb, info)
	add_fate(tree, tvb, pinfo, tvb:reported_len(), info)
	if tvb:len() >= header_len(tvb) then
		add_rest(tree, tvb, info)
	elseif tvb(0, 1):bitfield(4, 4) ~= DATA and tvb:reported_len() < header_len(tvb) then
		tree:add_proto_expert_info(e.short)
		info[#info + 1] = "too short"
	end
	pinfo.cols.info = table.concat(info, " ")
end

DissectorTable.get("udp.port"):add(PORT, ndp)
