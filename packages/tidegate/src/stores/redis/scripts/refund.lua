--[[
  Gives back up to `cost` of what one key has admitted.

  KEYS[1]  the key
  ARGV[1]  ms since the epoch, or '' for the server's own time
  ARGV[2]  number of words of the quota, and these, as in decide.lua
  then     cost; the time of the admission ('' where it is known by its id alone, or for the oldest ones); its id or ''
  Reply    what was given back
]]
--@include prelude
--@include clock
local row, argument, key, cost, failed, refunded = 3, 3 + ARGV[2], KEYS[1], 0, nil, 0
local algorithm, limit, window, resolution = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6]), tonumber(ARGV[7])
local amount, time, id = tonumber(ARGV[argument]), tonumber(ARGV[argument + 1]), ARGV[argument + 2]
local oldest_first = not time and id == ''
local allowed, used, wait, reset, full, at, plain, charge, unsettled, found
local total, length, small, newest, tail, before, oldest, expiry
--@include own-state
--@include give-back
if failed then return redis.error_reply(failed) end
--@include keep-block
return refunded
