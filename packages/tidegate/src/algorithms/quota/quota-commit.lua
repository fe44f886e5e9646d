-- Writes what quota.lua found, with `charged`, as statements. Sets failed where that fails.
local written = attempt('SET', key, '\7' .. pack_bytes('<I8', used + charged))
if written.err then failed = written.err end
