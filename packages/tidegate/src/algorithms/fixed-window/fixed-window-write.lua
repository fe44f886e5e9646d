-- Stores a window with what it counts, `total`, and its newest admission. Sets written.
local life = oldest + length - now + SLACK_MS
if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
written = attempt('SET', key, '\4' .. pack_bytes('<I6I5I5I4', oldest, length, newest - oldest, total), 'PX', life)
