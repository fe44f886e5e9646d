--[[
  Ends the block of one key, and forgets its penalties.

  KEYS[1]  the key
  ARGV[1]  the time, as clock.lua reads it
  Reply    1 where it was blocked, else 0
]]
--@include prelude
--@include clock
local key, was = KEYS[1], 0
local block = attempt('GETRANGE', key, 0, 19)
if type(block) == 'string' and #block == 19 and string.byte(block) == 9 then
  local _, ends, aside = unpack_bytes('<I6I6I6', block, 2)
  if now < ends then was = 1 end
  -- The state takes the place of the block in one step.
  local moved = attempt('RENAME', key .. ':held', key)
  if moved.err and string.find(moved.err, 'no such key', 1, true) then
    if now < aside then return redis.error_reply(STATE_MOVING) end
    redis.call('DEL', key)
  elseif moved.err then return redis.error_reply(moved.err) end
end
redis.call('DEL', key .. ':penalties')
return was
