-- Names of what nearly every decision uses. Each that a function uses costs each call of the script: the rest is
-- written out where it is used. `attempt` returns an error reply instead of raising it.
local attempt, unpack_bytes, pack_bytes, sub = redis.pcall, struct.unpack, struct.pack, string.sub
local UNREADABLE = 'UNREADABLE this version cannot read what is stored here'
local OUT_OF_RANGE = 'RANGE the windows that were sent do not reach to this time'
local FOREVER = 281474976710655
local SLACK_MS = 1000
local INJECTED_LIFE_MS = 3600000
local LARGEST_SUM = 9007199254740991
local STATE_MOVING = 'TRYAGAIN the state of this key is on its way from another node'
local REACH = 192
local FROM_END = '-192'
local SMALL_ENTRIES = 18
local MODULUS = 4294967296
local ENTRY = '<I6I4'
local NEWEST_AND_TRAILER = '<I6I4I4I4I4I6I6I4I1'
local COMPACT = '<I1I1I6'
local COMPACT_ENTRY = '<I4I1'
local COMPACT_ROOM = 85
