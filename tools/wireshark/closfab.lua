-- SPDX-License-Identifier: GPL-2.0-only
--
-- Wireshark dissector for closfab; net/closfab/fab_wire.c defines the format
--
--	wireshark -X lua_script:closfab.lua		or: tshark
--
-- or copy it to ~/.local/lib/wireshark/plugins. Fields are named closfab.*.
local closfab = Proto("closfab", "Tunnel between top-of-rack switches (closfab)")

local PORT = 8474
local VERSION = 1
local HEADER, MAC = 20, 8	-- bytes
local ORDERED, CELL, CONWEAVE = 1, 2, 3
local KEYED, FIRST, LAST = 0x80, 0x20, 0x40

local kinds = { [0] = "DATA", "ORDERED", "CELL", "CONWEAVE", "RTT_REPLY", "CLEAR", "NOTIFY" }
local flags = {
	{ "RTT_REQUEST", 0x01 }, { "TAIL", 0x02 }, { "REROUTED", 0x04 }, { "CE_ECHO", 0x08 },
	{ "REFUSE", 0x10 }, { "FIRST", FIRST }, { "LAST", LAST }, { "KEYED", KEYED },
}

local f = {
	version = ProtoField.uint8("closfab.version", "Version", base.DEC, nil, 0xf0),
	op = ProtoField.uint8("closfab.op", "Kind", base.DEC, kinds, 0x0f),
	flags = ProtoField.uint8("closfab.flags", "Flags", base.HEX),
	path = ProtoField.uint16("closfab.path", "Path", base.HEX),
	epoch = ProtoField.uint16("closfab.epoch", "Epoch", base.DEC),
	proto = ProtoField.uint16("closfab.proto", "EtherType", base.HEX),
	instance = ProtoField.uint16("closfab.instance", "Instance", base.HEX),
	bucket = ProtoField.uint16("closfab.bucket", "Flow bucket", base.DEC),
	tx_us = ProtoField.uint32("closfab.tx_us", "Clock of the sender of data, µs", base.DEC),
	tail_us = ProtoField.uint32("closfab.tail_us", "Clock at TAIL, µs", base.DEC),
	seq = ProtoField.uint32("closfab.seq", "Sequence number", base.DEC),
	mac = ProtoField.uint64("closfab.mac", "MAC", base.HEX),
	cell = ProtoField.bytes("closfab.cell", "Cell"),
}
closfab.fields = f

-- Names of the flags that are set
local function flag_names(value)
	local names = {}
	for _, flag in ipairs(flags) do
		if bit.band(value, flag[2]) ~= 0 then
			names[#names + 1] = flag[1]
		end
	end
	return table.concat(names, " ")
end

local function add_header(tree, buf, op)
	tree:add(f.version, buf(0, 1))
	tree:add(f.op, buf(0, 1))
	tree:add(f.flags, buf(1, 1)):append_text(" " .. flag_names(buf(1, 1):uint()))
	tree:add(f.path, buf(2, 2))
	tree:add(f.epoch, buf(4, 2))
	tree:add(f.proto, buf(6, 2))
	tree:add(f.instance, buf(8, 2))
	tree:add(f.bucket, buf(10, 2))
	tree:add(f.tx_us, buf(12, 4))
	if op == CONWEAVE then
		tree:add(f.tail_us, buf(16, 4))
	elseif op == ORDERED or op == CELL then
		tree:add(f.seq, buf(16, 4))
	end
end

function closfab.dissector(buf, pinfo, root)
	if buf:len() < HEADER or bit.rshift(buf(0, 1):uint(), 4) ~= VERSION then
		return 0
	end
	local op, bits = bit.band(buf(0, 1):uint(), 0x0f), buf(1, 1):uint()
	local len = HEADER + (bit.band(bits, KEYED) ~= 0 and MAC or 0)
	if buf:len() < len then
		return 0
	end
	local tree = root:add(closfab, buf(0, len))
	add_header(tree, buf, op)
	if len > HEADER then
		tree:add(f.mac, buf(HEADER, MAC))
	end
	local info = (kinds[op] or "?") .. (bits ~= 0 and " " .. flag_names(bits) or "")
	if buf:len() > len and op == CELL then
		tree:add(f.cell, buf(len))
	elseif buf:len() > len then
		local next = buf(6, 2):uint() == 0x86dd and "ipv6" or "ip"
		Dissector.get(next):call(buf(len):tvb(), pinfo, root)
	end
	pinfo.cols.protocol = "closfab"
	pinfo.cols.info:prepend(info .. ": ")
	return buf:len()
end

DissectorTable.get("udp.port"):add(PORT, closfab)
