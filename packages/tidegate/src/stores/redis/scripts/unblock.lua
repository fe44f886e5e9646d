--[[
  Ends the block of one key, and forgets its penalties.

  KEYS[1]  the key
  ARGV[1]  ms since the epoch, or '' for the server's own time
  Reply    1 where it was blocked, else 0
]]
--@include prelude
--@include clock
local key, was = KEYS[1], 0
local block = attempt('GETRANGE', key, 0, 13)
if type(block) == 'string' and #block == 13 and string.byte(block) == 9 then
  local _, ends = unpack_bytes('<I6I6', block, 2)
  if now < ends then was = 1 end
  redis.call('DEL', key)
  if redis.call('EXISTS', key .. ':held') == 1 then redis.call('RENAME', key .. ':held', key) end
end
redis.call('DEL', key .. ':penalties')
return was
