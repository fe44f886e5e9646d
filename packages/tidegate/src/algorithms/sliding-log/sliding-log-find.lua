-- Where the entry that is given back stands among the live ones, counted from 0: the oldest that has the id, and the
-- time where one is given. Sets place, nil where there is none; or failed.
local first = 1 + tail
if time and unsettled then first = time == now and first or nil
elseif time then first = time > at - window and 1 + redis.call('ZCOUNT', key, 0, string.format('(%.0f', time)) or nil end
while first and not place and not failed do
  local block = redis.call('ZRANGE', key, first, first + 255)
  for i = 1, #block do
    local entry_time, _, _, name = string.match(block[i], LOG_ENTRY)
    if not entry_time then failed = UNREADABLE break end
    if time and not unsettled and tonumber(entry_time) ~= time then first = nil break end
    if name == id then place = first + i - 2 - tail break end
  end
  first = first and #block == 256 and first + 256
end
