-- Equal requests that fit are charged as one, in the place of the first; those behind them are decided anew. Sets group.
local group = times
if times > 0 and allowed and not peek and not broken and cost > 0 then
  group = math.min(times, floor((limit - used) / cost))
  charge = group * cost
end
