-- The clock came right after having been far ahead: what has expired is removed, and what is live is written again as
-- made now, 256 at a time. The new ones come before all that are still to be done. Sets newest and before; failed where
-- nothing can be written.
written = attempt('ZREMRANGEBYSCORE', key, 0, newest - window)
if type(written) == 'table' then failed = written.err
else
  local count, done = length - tail, 0
  while done < count do
    local block, anew = redis.call('ZRANGE', key, 1 + done, math.min(256 + done, count)), {}
    for i = 1, #block do
      local _, _, charge, name = string.match(block[i], LOG_ENTRY)
      anew[i + i - 1], anew[i + i] = now, string.format('%.0f:%010.0f:', now, done + i - 1) .. charge .. ':' .. name
    end
    redis.call('ZREM', key, unpack(block))
    redis.call('ZADD', key, unpack(anew))
    done = done + #block
  end
  newest, before = now, count - 1
end
