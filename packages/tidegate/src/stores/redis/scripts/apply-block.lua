-- A key that is blocked is refused whatever its rule says; one that its rule refuses is blocked, where the rule has a
-- penalty. `penalty` is then what penalise.lua has to write, should the request write at all.
local left = 0
-- One that is over has only been passed by, because nothing may be written.
if blocked and blocked[1] == 0 then blocked, key = false, blocked[2] end
-- Where the state aside cannot be read, or is on another node because its slot moves, the key is blocked all the same.
if blocked and failed then
  failed, used, wait, reset, at = nil, 0, cost > limit and -1 or 0, 0, now
end
if blocked and not failed then
  left, allowed, unsettled = blocked[1], false, false
  -- The clock came right after having been far ahead: the block begins now.
  if left ~= -1 and now < blocked[2] - left then penalty = { left } end
elseif not failed and not allowed and ARGV[row + 2] ~= '' and cost > 0 and cost <= limit and wait ~= -1 then
--@include next-penalty
end
if left == 0 then blocked = false
else
  wait = (wait == -1 or left == -1) and -1 or math.max(wait, left)
  reset = (reset == -1 or left == -1) and -1 or math.max(reset, left)
end
