-- Writes what sliding-counter.lua found, with `charged` at `at`, as statements. Sets failed where that fails.
local life = (charged > 0 and full or reset) + SLACK_MS
if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
local written = attempt('SET', key, '\3' .. pack_bytes('<I6I4I4', at, total, before + charged), 'PX', life)
if written.err then failed = written.err end
