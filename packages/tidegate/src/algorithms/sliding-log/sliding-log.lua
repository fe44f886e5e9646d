--[[
  The sliding log, twin of sliding-log.ts: every admission by itself, as one sorted set that plain reads understand.

    used                          score -(1 + sum): the cost of all entries, also of those that have expired and that the
                                  next commit clears away. Entries begin at score 0, so reads by time do not see it.
    <time>:<sequence>:<cost>:<id> score time (ms since the epoch). The sequence counts the entries of one millisecond, in
                                  ten digits so that their order is that of the text; the id is last, it may hold colons.

  Reads key, limit, window, cost, now; the newest entry, which is the newest time seen. Where nothing has expired and the
  request is admitted these are two reads. Left for commit: total (sum as stored), length (entries, where counted), tail
  (how many have expired; 1 stands for all), newest, before (sequence of the newest), oldest.
]]
local LOG_ENTRY = '^(%d+):(%d+):(%d+):(.*)$'

local head = attempt('ZRANGE', key, 0, 1, 'WITHSCORES')
at, used, reset, total, length, tail, newest, before, full = now, 0, 0, 0, 0, 0, -1, -1, window
allowed, wait, plain, charge, unsettled, found = cost <= limit, cost > limit and -1 or 0, true, cost, false, nil
if head.err then failed = head.err
elseif #head > 0 then
  local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  local time, sequence = string.match(last[1], LOG_ENTRY)
  newest, before, total, oldest = tonumber(time), tonumber(sequence), -1 - tonumber(head[2]), tonumber(head[4])
  if head[1] ~= 'used' or not oldest or oldest < 0 or total < 1 or total > LARGEST_SUM or total % 1 ~= 0
    or newest ~= tonumber(last[2]) then failed = UNREADABLE
  elseif newest <= now - window then tail = 1
  else
    unsettled = newest - now > window
    if now < newest and not unsettled then at, full = newest, newest + window - now end
    -- The clock came right after having been far ahead: what is live counts as made now.
    local cut = unsettled and newest - window or at - window
    reset, used = unsettled and window or newest + window - now, total
    if oldest <= cut then tail = redis.call('ZCOUNT', key, 0, cut) end
    local excess = total + cost - limit
    if tail > 0 or unsettled or excess > 0 then length = redis.call('ZCARD', key) - 1 end
    if unsettled or total ~= length and (tail > 0 or excess > 0) then
--@include sliding-log-walk
      -- Before it is all written again everything must be known to be readable.
      if unsettled then used = sliding_log_walk(key, 1 + tail, length, math.huge)
      elseif tail > length - tail then used = sliding_log_walk(key, length, 1 + tail, math.huge)
      elseif tail > 0 then
        local gone = sliding_log_walk(key, 1, tail, math.huge)
        used = gone and total - gone
      end
      excess = used and used + cost - limit
      if excess and excess > 0 and wait == 0 and not unsettled then
        local sum, freed
        if excess + excess <= used then sum, freed = sliding_log_walk(key, 1 + tail, length, excess)
        else sum, freed = sliding_log_walk(key, length, 1 + tail, used - excess + 1) end
        used, wait = freed and used, freed and freed + window - now
      end
    else
      -- Each costs 1: ranks are sums.
      used = used - tail
      excess = used + cost - limit
      if excess > 0 and wait == 0 then
        wait = redis.call('ZRANGE', key, tail + excess, tail + excess, 'WITHSCORES')[2] + window - now
      end
    end
    if used and used > 0 then
      allowed = used + cost <= limit
      if unsettled and wait == 0 and not allowed then wait = window end
    else used, wait, reset, failed = 0, -1, 0, UNREADABLE end
  end
end
