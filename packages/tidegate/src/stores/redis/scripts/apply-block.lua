-- A key that is blocked is refused whatever its rule says; one that its rule refuses is blocked, where the rule has a
-- penalty. `penalty` is then what penalise.lua has to write, should the request write at all.
local left = 0
if blocked and not failed and blocked[1] ~= 0 then
  left, allowed, unsettled = blocked[1], false, false
  -- The clock came right after having been far ahead: the block begins now.
  if left ~= -1 and now < blocked[2] - left then penalty = { left } end
elseif not failed and not allowed and ARGV[row + 2] ~= '' and cost > 0 and cost <= limit and wait ~= -1 then
--@include next-penalty
end
-- A block that is over stands in a peek's way, and says nothing.
if left == 0 or blocked and blocked[1] == 0 then blocked = false end
if left ~= 0 then
  wait = (wait == -1 or left == -1) and -1 or math.max(wait, left)
  reset = (reset == -1 or left == -1) and -1 or math.max(reset, left)
end
