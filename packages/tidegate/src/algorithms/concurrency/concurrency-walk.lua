-- Adding up what leases cost, 256 at a time, from rank `from` to rank `to` in either direction, until the sum reaches
-- `amount`: needed only where not each costs 1, and so made only there. The sum, and the expiry of the last one looked
-- at where it was reached; nil where one cannot be read.
local function concurrency_walk(key, from, to, amount)
  local sum, step, rank = 0, from <= to and 1 or -1, from
  while sum < amount and (to - rank) * step >= 0 do
    local reach = math.min(255, (to - rank) * step)
    local low, names = step == 1 and rank or rank - reach, {}
    local block = redis.call('ZRANGE', key, low, low + reach, 'WITHSCORES')
    for i = 1, #block, 2 do
      if string.sub(block[i], 1, 1) ~= '=' then return nil end
      names[#names + 1] = '#' .. string.sub(block[i], 2)
    end
    if #names == 0 then return nil end
    local costs = redis.call('ZMSCORE', key, unpack(names))
    for i = step == 1 and 1 or #names, step == 1 and #names or 1, step do
      sum = sum - (costs[i] or -1)
      if sum >= amount then return sum, tonumber(block[i + i]) end
    end
    rank = rank + step * (reach + 1)
  end
  return sum
end
