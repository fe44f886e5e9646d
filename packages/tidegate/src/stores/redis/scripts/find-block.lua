--[[
  A state that cannot be read may be a block in its place, and the state itself aside at `key:held`. A block:
    \9, when it began (6, ms), when it ends (6; FOREVER: by unblock alone).
  One that is over is cleared away by the next request that can write.
]]
local block = blocked and '' or attempt('GETRANGE', key, 0, 13)
if type(block) == 'string' and #block == 13 and string.byte(block) == 9 then
  local from, ends = unpack_bytes('<I6I6', block, 2)
  if now < ends then
    blocked, key = { ends == FOREVER and -1 or now < from + from - ends and ends - from or ends - now, from, key }, key .. ':held'
  elseif peek or cost == 0 then blocked, key = { 0, 0, key }, key .. ':held'
  elseif redis.call('EXISTS', key .. ':held') == 1 then
    local moved = attempt('RENAME', key .. ':held', key)
    if moved.err and string.find(moved.err, 'READONLY', 1, true) then return redis.error_reply(moved.err) end
  else redis.call('DEL', key) end
  again, failed = true, nil
end
