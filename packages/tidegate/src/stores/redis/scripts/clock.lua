-- The time that the caller gives, or the server's own.
local now, injected, floor = tonumber(ARGV[1]), true, math.floor
if not now then
  local time = redis.call('TIME')
  now, injected = time[1] * 1000 + floor(time[2] / 1000), false
end
