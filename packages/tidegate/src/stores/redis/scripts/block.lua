--[[
  Blocks one key, instead of a block that there is.

  KEYS[1]  the key
  ARGV[1]  the time, as clock.lua reads it
  ARGV[2]  for how many ms from now; -1 for ever
  Reply    1
]]
--@include prelude
--@include clock
local key, left, failed = KEYS[1], tonumber(ARGV[2]), nil
local ends = left == -1 and FOREVER or now + left
--@include write-block
return failed and redis.error_reply(failed) or 1
