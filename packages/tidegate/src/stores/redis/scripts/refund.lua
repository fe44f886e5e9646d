--[[
  Gives back up to `cost` of what one key has admitted.

  KEYS[1]  the key
  ARGV[1]  the time, as clock.lua reads it
  ARGV[2]  number of words of the quota, and these, as in decide.lua
  then     cost; whose: 'oldest', or 'one' and then its time ('' where it is known by its id alone), its id or '', and how
           much was used before it, at least
  Reply    what was given back
]]
--@include prelude
--@include clock
local row, argument, key, cost, failed, refunded = 3, 3 + ARGV[2], KEYS[1], 0, nil, 0
local algorithm, limit, window, resolution = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6]), tonumber(ARGV[7])
local amount, oldest_first = tonumber(ARGV[argument]), ARGV[argument + 1] == 'oldest'
local time, id, used_before = tonumber(ARGV[argument + 2]), ARGV[argument + 3], tonumber(ARGV[argument + 4])
local allowed, used, wait, reset, full, at, plain, charge, unsettled, found
local total, length, small, newest, tail, before, oldest, expiry, fetched
--@include own-state
--@include give-back
if failed then return redis.error_reply(failed) end
--@include keep-block
return refunded
