-- What is held, and how long a request that is refused waits: ranks are sums where each lease costs 1, else leases are
-- gone through from the nearer end.
reset, used = unsettled and window or newest - now, total
local first, final = before + tail, before + length - 1
if unsettled or before > 1 and (tail > 0 or excess > 0) then
--@include concurrency-walk
  -- Before it is all written again everything must be known to be readable.
  if unsettled then used = concurrency_walk(key, first, final, math.huge)
  elseif tail > length - tail then used = concurrency_walk(key, final, first, math.huge)
  elseif tail > 0 then
    local gone = concurrency_walk(key, before, first - 1, math.huge)
    used = gone and total - gone
  end
  excess = used and used + cost - limit
  if excess and excess > 0 and wait == 0 and not found and not unsettled then
    local sum, freed
    if excess + excess <= used then sum, freed = concurrency_walk(key, first, final, excess)
    else sum, freed = concurrency_walk(key, final, first, used - excess + 1) end
    used, wait = freed and used, freed and freed - now
  end
else
  used = used - tail
  excess = used + cost - limit
  if excess > 0 and wait == 0 and not found then
    local freed = redis.call('ZRANGE', key, first + excess - 1, first + excess - 1, 'WITHSCORES')[2]
    used, wait = freed and used, freed and freed - now
  end
end
if used and used > 0 then
  if not found then allowed = used + cost <= limit end
  if unsettled and wait == 0 and not allowed then wait = window end
else used, wait, reset, found, failed = 0, -1, 0, false, UNREADABLE end
