--[[
  A lease lives on for its whole time from now.

  KEYS[1]  the key
  ARGV[1]  the time, as clock.lua reads it
  ARGV[2]  number of words of the quota, and these, as in decide.lua
  then     the id of the lease
  Reply    1, or 0 where it has ended
]]
--@include prelude
--@include clock
local row, argument, key, cost, failed = 3, 3 + ARGV[2], KEYS[1], 0, nil
local limit, window, id = tonumber(ARGV[4]), tonumber(ARGV[6]), ARGV[argument]
local allowed, used, wait, reset, full, at, plain, charge, unsettled, found
local total, length, newest, tail, before
--@include own-state
--@include ../../../algorithms/concurrency/concurrency
--@include ../../../algorithms/concurrency/concurrency-renew
--@include keep-block
return failed and redis.error_reply(failed) or found and 1 or 0
