--[[
  Settles one reservation of one key: its actual cost takes the place of what was reserved. What was too much is given
  back, of that admission; what was too little is charged now, past the limit too. See reserve.lua for what is stored.

  KEYS[1]  the key, and behind it the name of its reservations
  ARGV[1]  the time, as clock.lua reads it
  ARGV[2]  number of words of the quota, and these, as in decide.lua
  then     the id of the reservation; the actual cost; or 0, and what is given back of a reservation whose request was
           refused elsewhere, whatever has become of it since: its time, its cost, and how much was used before it, at least
  Reply    the time; 1, or 0 where there is no such reservation that is live, or with nothing done -1 where the key would
           have used more than can be counted, -2 where the windows that were sent do not reach to the time; what was
           charged; what was given back
]]
local MOST = 4294967295
local NO_TIME = -8589934592
local RESERVATIONS = ' (its reservations)'
--@include prelude
--@include clock
local row, argument, key, failed, charged, refunded = 3, 3 + ARGV[2], KEYS[1], nil, 0, 0
local algorithm, window, resolution = tonumber(ARGV[3]), tonumber(ARGV[6]), tonumber(ARGV[7])
local id, actual, name = ARGV[argument], tonumber(ARGV[argument + 1]), KEYS[2]
local time, amount = tonumber(ARGV[argument + 2]), tonumber(ARGV[argument + 3])
local used_before, oldest_first = tonumber(ARGV[argument + 4] or 0), false
if not time then
  local reservation = attempt('ZMSCORE', name, '=' .. id, '#' .. id, '@' .. id)
  if reservation.err then return redis.error_reply(reservation.err .. RESERVATIONS) end
  if not reservation[1] or now >= tonumber(reservation[1]) then return { now, 0, 0, 0 } end
  if not reservation[2] or not reservation[3] then return redis.error_reply(UNREADABLE .. RESERVATIONS) end
  amount, time = -reservation[2] - actual, NO_TIME - reservation[3]
end
-- Past the limit too: all that bounds an excess is what can be counted.
local cost, limit = math.max(0, -amount), MOST
local allowed, used, wait, reset, full, at, plain, charge, unsettled, found
local total, length, small, newest, tail, before, oldest, expiry, fetched
--@include own-state
if algorithm == 6 then
--@include ../../../algorithms/concurrency/concurrency
  -- A lease says itself what it costs by now. One that has ended has nothing to give back, and nothing is added to it.
  if not failed then amount = found and -(redis.call('ZSCORE', key, '#' .. id) or -1) - actual or 0 end
  allowed = used - amount <= limit
elseif amount < 0 then
--@include evaluate
end
if failed == OUT_OF_RANGE then return { now, -2, 0, 0 } end
if amount < 0 and not failed then
  if not allowed then return { now, -1, 0, 0 } end
  charged = -amount
  if algorithm == 6 then
--@include ../../../algorithms/concurrency/concurrency-raise
  else
--@include commit
  end
elseif amount > 0 then
--@include give-back
end
if failed then return redis.error_reply(failed) end
redis.call('ZREM', name, '=' .. id, '#' .. id, '@' .. id)
--@include keep-block
return { now, 1, charged, refunded }
