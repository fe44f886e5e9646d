--[[
  A state that cannot be read may be a block in its place, and the state itself aside at `key:held`. A block:
    \9, when it began (6, ms), when it ends (6; FOREVER: by unblock alone), until when there is a state aside (6; 0: none).
  One that is over is cleared away by the next request that can write. A state that should be aside and is not there is on
  its way from another node: the key is then not decided, because it would count from nothing.
]]
local block = blocked and '' or attempt('GETRANGE', key, 0, 19)
if type(block) == 'string' and #block == 19 and string.byte(block) == 9 then
  local from, ends, aside = unpack_bytes('<I6I6I6', block, 2)
  again, failed = true, nil
  if now < ends then
    blocked, key = { ends == FOREVER and -1 or now < from + from - ends and ends - from or ends - now, from, key }, key .. ':held'
  elseif peek or cost == 0 then blocked, key = { 0, key }, key .. ':held'
  else
    local moved = attempt('RENAME', key .. ':held', key)
    if moved.err and string.find(moved.err, 'no such key', 1, true) then
      if now < aside then again, failed = false, STATE_MOVING
      else
        moved = attempt('DEL', key)
        if type(moved) == 'table' then again, failed = false, moved.err end
      end
    elseif moved.err then again, failed = false, moved.err end
  end
  if failed and string.find(failed, 'READONLY', 1, true) then return redis.error_reply(failed) end
end
