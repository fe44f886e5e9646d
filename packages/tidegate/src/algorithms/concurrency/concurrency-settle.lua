-- Clears away the leases that concurrency.lua found expired, and what they cost. Where the clock came right after having
-- been far ahead, those that are live are made now: they then come before all that are still to be done.
if tail > 0 then
  local cut = unsettled and newest - window or at
  local block = before > 1 and redis.call('ZRANGEBYSCORE', key, 0, cut, 'LIMIT', 0, 256) or {}
  while #block > 0 do
    for i = 1, #block do block[#block + 1] = '#' .. sub(block[i], 2) end
    redis.call('ZREM', key, unpack(block))
    block = redis.call('ZRANGEBYSCORE', key, 0, cut, 'LIMIT', 0, 256)
  end
  if before == 1 then redis.call('ZREMRANGEBYSCORE', key, 0, cut) end
end
if unsettled then
  local count, done = redis.call('ZCOUNT', key, 0, '+inf'), 0
  local base = redis.call('ZCARD', key) - count
  while done < count do
    local block, anew = redis.call('ZRANGE', key, base + done, base + done + 255), {}
    for i = 1, #block do anew[i + i - 1], anew[i + i] = now + window, block[i] end
    redis.call('ZADD', key, unpack(anew))
    done = done + #block
  end
end
