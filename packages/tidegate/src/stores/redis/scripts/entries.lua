--[[
  Lists the live admissions of one key that keeps them one by one, oldest first, a page of 1,000 at most.

  KEYS[1]  the key
  ARGV[1]  the time, as clock.lua reads it
  ARGV[2]  number of words of the quota, and these, as in decide.lua
  then     the position after which the page begins, and the last one of the listing: '' for the first page, and
           then what the reply to the page before said
  Reply    the two positions for the next page, the first of them '' where there is none; then of each entry its time,
           ms, its id and its cost
]]
local PAGE = 1000
--@include prelude
--@include clock
local row, argument, key, cost, failed, reply = 3, 3 + ARGV[2], KEYS[1], 0, nil, { '', '' }
local algorithm, limit, window = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6])
local after, last, id = ARGV[argument], ARGV[argument + 1], nil
local allowed, used, wait, reset, full, at, plain, charge, unsettled, found
local total, length, small, newest, tail, before, oldest, expiry
--@include own-state
if algorithm == 2 then
--@include ../../../algorithms/sliding-log/sliding-log
--@include ../../../algorithms/sliding-log/sliding-log-entries
else
--@include ../../../algorithms/concurrency/concurrency
--@include ../../../algorithms/concurrency/concurrency-entries
end
return failed and redis.error_reply(failed) or reply
