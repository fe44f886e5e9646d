-- Names of what nearly every decision uses. Each that a function uses costs each call of the script: the rest is
-- written out where it is used. `attempt` returns an error reply instead of raising it.
local attempt, unpack_bytes, pack_bytes, sub = redis.pcall, struct.unpack, struct.pack, string.sub
