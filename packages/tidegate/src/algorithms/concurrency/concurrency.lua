--[[
  Leases, twin of concurrency.ts: what is held at once, as one sorted set.

    +       score -(2^33 + sum): the cost of all leases, also of those that have expired and that the next commit clears away
    #<id>   score -cost, of leases that cost other than 1
    =<id>   score expiry, ms since the epoch: a lease, live before it. Leases begin at score 0. The newest of them, less
            its life, is the newest time seen.

  Reads key, limit, window (the life of a lease), cost, now, id. Where nothing has expired and the request is admitted
  these are four reads. Left for commit: found (the id is a live lease), total (sum as stored), tail (leases that have
  expired), newest (the last expiry); and, unless tail is 0 and all is settled, length (leases) and before (rank of the
  first, over 1 where some cost other than 1).
]]
local NO_LEASES = -8589934592

local head = attempt('ZRANGE', key, 0, 0, 'WITHSCORES')
at, used, reset, total, length, tail, newest, before, full = now, 0, 0, 0, 0, 0, -1, 0, window
allowed, wait, plain, charge, unsettled, found = cost <= limit, cost > limit and -1 or 0, true, cost, false, false
if head.err then failed = head.err
elseif #head > 0 then
  local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  total, newest = NO_LEASES - tonumber(head[2]), tonumber(last[2])
  if head[1] ~= '+' or sub(last[1], 1, 1) ~= '=' or total < 1 or total > LARGEST_SUM or total % 1 ~= 0 or newest < 0
    or newest % 1 ~= 0 then failed = UNREADABLE
  else
    -- The clock came right after having been far ahead: what is live counts as made now.
    unsettled = newest - window - now > window
    if now < newest - window and not unsettled then at, full = newest - window, newest - now end
    local cut = unsettled and newest - window or at
    tail = redis.call('ZCOUNT', key, 0, cut)
    local own = newest > cut and redis.call('ZSCORE', key, '=' .. (id or ''))
    found = own and tonumber(own) > cut
    if found then allowed, wait, charge = true, 0, 0 end
    local excess = found and 0 or total + cost - limit
    if tail > 0 or unsettled or excess > 0 then
      length = redis.call('ZCOUNT', key, 0, '+inf')
      before = redis.call('ZCARD', key) - length
    end
    if newest > cut then
--@include concurrency-use
    end
  end
end
