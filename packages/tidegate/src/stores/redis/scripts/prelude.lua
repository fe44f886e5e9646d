-- Names that every part uses. `call` raises a script error; redis.pcall returns it.
local call, unpack_bytes, pack_bytes = redis.call, struct.unpack, struct.pack
local floor, byte, sub = math.floor, string.byte, string.sub
