-- A page of the live entries that sliding-log.lua found, as statements. A position is `<time>:<sequence>`, as stored.
-- Sets reply, or failed.
if not failed and used > 0 then
  -- The first rank in low..high - 1 whose entry is behind a position. It may be gone by now, so it is searched for.
  local function behind(position, low, high)
    local time, sequence = string.match(position, '^(%d+):(%d+)$')
    time, sequence = tonumber(time), tonumber(sequence)
    while low < high do
      local middle = floor((low + high) / 2)
      local own_time, own_sequence = string.match(redis.call('ZRANGE', key, middle, middle)[1], LOG_ENTRY)
      if not own_time then return nil end
      own_time, own_sequence = tonumber(own_time), tonumber(own_sequence)
      if own_time > time or own_time == time and own_sequence > sequence then high = middle else low = middle + 1 end
    end
    return low
  end
  local first, count = 1 + tail, redis.call('ZCARD', key)
  if last == '' then last = string.format('%.0f:%.0f', newest, before)
  else count = behind(last, first, count) end
  if after ~= '' and count then first = behind(after, first, count) end
  local block = first and count and first < count
    and redis.call('ZRANGE', key, first, math.min(first + PAGE, count) - 1) or {}
  reply[2] = last
  if not (first and count) then failed = UNREADABLE
  elseif first + PAGE < count then reply[1] = string.match(block[PAGE], '^%d+:%d+') or '' end
  for i = 1, #block do
    local entry_time, _, entry_cost, name = string.match(block[i], LOG_ENTRY)
    if not entry_time then failed = UNREADABLE break end
    reply[3 * i], reply[3 * i + 1], reply[3 * i + 2] = unsettled and now or entry_time, name, entry_cost
  end
end
