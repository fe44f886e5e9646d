-- Adding up what entries cost, 256 at a time, from rank `from` to rank `to` in either direction, until the sum reaches
-- `amount`: needed only where not every entry costs 1, and so made only there. The sum, and the time of the last one
-- looked at; nil where one cannot be read.
local function sliding_log_walk(key, from, to, amount)
  local sum, step, rank = 0, from <= to and 1 or -1, from
  while sum < amount and (to - rank) * step >= 0 do
    local reach = math.min(255, (to - rank) * step)
    local block = redis.call('ZRANGE', key, step == 1 and rank or rank - reach, step == 1 and rank + reach or rank)
    for i = step == 1 and 1 or #block, step == 1 and #block or 1, step do
      local time, _, cost = string.match(block[i], LOG_ENTRY)
      if not time then return nil end
      sum = sum + cost
      if sum >= amount then return sum, tonumber(time) end
    end
    if #block == 0 then return nil end
    rank = rank + step * (reach + 1)
  end
  return sum
end
