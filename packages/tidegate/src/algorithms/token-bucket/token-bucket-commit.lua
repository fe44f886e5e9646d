-- Writes what token-bucket.lua found, with `charged` at `at`, as statements. Sets failed where that fails.
local life = (charged > 0 and full or reset) + SLACK_MS
if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
local state = '\5' .. pack_bytes('<I6I4I6', at, total + charged, before * tonumber(ARGV[row + 6]))
local written = attempt('SET', key, state, 'PX', life)
if written.err then failed = written.err end
