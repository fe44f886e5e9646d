--[[
  Reads the time of a script, ARGV[1]: ms since the epoch, or '' for the server's own time. '<' and a time is the server's
  own, but no later than this: otherwise the reply is the error LATE with the server's time, and nothing is done.
]]
local now, injected, floor = tonumber(ARGV[1]), true, math.floor
if not now then
  local time = redis.call('TIME')
  now, injected = time[1] * 1000 + floor(time[2] / 1000), false
  if ARGV[1] ~= '' and now > tonumber(sub(ARGV[1], 2)) then
    return redis.error_reply('LATE ' .. string.format('%.0f', now) .. ' nobody waits for this any more: nothing was done')
  end
end
