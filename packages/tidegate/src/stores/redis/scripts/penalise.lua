-- Writes the block that apply-block.lua found due.
local ends, left, own = now + penalty[1], penalty[1], key
if blocked then key = blocked[3] end
--@include write-block
if penalty[2] and not failed then
  local life = penalty[3] - now + SLACK_MS
  if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
  redis.call('SET', own .. ':penalties', '\8' .. pack_bytes('<I1I6', penalty[2], penalty[3]), 'PX', life)
end
key = own
