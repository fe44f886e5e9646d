-- Gives back up to `amount` of what sliding-log.lua found, as statements. Sets refunded, or failed. Everything is read
-- before anything is written.
if not failed and used > 0 and amount > 0 then
  local place, gone, given, part = nil, 0, 0, 0
  if oldest_first then place = 0
  else
--@include sliding-log-find
  end
  -- Whole entries go, and the one behind them in part.
  local rank = place and 1 + tail + place
  while rank and not failed and given < amount do
    local block = redis.call('ZRANGE', key, rank + gone, rank + gone + (oldest_first and 255 or 0))
    for i = 1, #block do
      local own = tonumber((string.match(block[i], '^%d+:%d+:(%d+):')))
      if not own then failed = UNREADABLE break end
      if given + own > amount then
        given, part = amount, amount - given
        break
      end
      given, gone = given + own, gone + 1
    end
    if not oldest_first or #block < 256 then break end
  end
  if place and not failed then
    local charged = 0
--@include sliding-log-commit
  end
  if place and not failed then
    rank, refunded = 1 + place, given
    if given == used then redis.call('DEL', key)
    else
      redis.call('ZADD', key, string.format('%.0f', -1 - used + given), 'used')
      if part > 0 then
        local member = redis.call('ZRANGE', key, rank + gone, rank + gone)[1]
        local begin, own, name = string.match(member, '^(%d+:%d+:)(%d+)(:.*)$')
        redis.call('ZADD', key, string.match(member, '^%d+'), begin .. string.format('%.0f', own - part) .. name)
        redis.call('ZREM', key, member)
      end
      if gone > 0 then redis.call('ZREMRANGEBYRANK', key, rank, rank + gone - 1) end
    end
  end
end
