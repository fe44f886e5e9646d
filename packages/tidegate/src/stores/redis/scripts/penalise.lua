-- Writes the block that apply-block.lua found due. Of a slot that moves not all keys can be written: the refusal then stays
-- without a penalty.
local ends, left, own = now + penalty[1], penalty[1], key
if blocked then key = blocked[3] end
--@include write-block
if penalty[2] and not failed then
  local life = penalty[3] - now + SLACK_MS
  if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
  attempt('SET', own .. ':penalties', '\8' .. pack_bytes('<I1I6', penalty[2], penalty[3]), 'PX', life)
end
if failed and string.find(failed, 'non local key', 1, true) then failed = nil end
key = own
