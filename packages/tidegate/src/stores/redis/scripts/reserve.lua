--[[
  Decides one request and, where it is admitted, reserves what it has charged: for each check it is written down what was
  charged and when, so that settle.lua can put the actual cost in its place. A check whose reservation is live already is
  admitted whatever has been used, and charged nothing; unless its key is blocked. Of a lease that is for the lease to say,
  which can have ended before; both are renewed. A lease that is held without a reservation stays without one.

  KEYS     one key for each check, and behind them the names of their reservations, in the same order
  ARGV     as in decide.lua, for one request in which each check has the id of the reservation; behind the operations
           how many ms from now the reservation lives
  Reply    as in decide.lua

  The reservations of a key are one sorted set, `key:reserved`:
    =<id>  score expiry, ms since the epoch: live before it. The next reservation of the key clears away what has expired.
    #<id>  score -cost
    @<id>  score -(2^33 + time of the admission, ms since the epoch)
]]
local NO_TIME = -8589934592
local RESERVATIONS = ' (its reservations)'
--@include prelude
--@include clock
local reply, filled, argument, check, run, times = { now }, 1, 3 + ARGV[2], 1, 0, 0
local known, row, algorithm, limit, window, resolution, cost, weighted, identified, id, shadow, probe, peek, more
local several, alike, quick, tick, fresh, life, fetched
local key, failed, allowed, used, wait, reset, full, at, plain, charge, unsettled, found, blocked, penalty
local total, length, small, newest, tail, before, oldest, expiry
local steps, count, admitted, broken, culprit, live, known_before = nil, 0, true, nil, 0, {}, {}
repeat
  key = KEYS[check]
  check, count = check + 1, count + 1
--@include next-operation
  local expires = attempt('ZSCORE', KEYS[#KEYS / 2 + count], '=' .. id)
  local unreadable = type(expires) == 'table' and expires.err .. RESERVATIONS or nil
  known_before[count] = not unreadable and expires and now < tonumber(expires)
  live[count] = algorithm ~= 6 and known_before[count]
  if live[count] then cost = 0 end
--@include evaluate-check
  failed = failed or unreadable
  if live[count] and not blocked and not failed then allowed, wait = true, 0 end
--@include keep-check
until not more
--@include charge-checks
for i = 1, admitted and not peek and not broken and count or 0 do
  if steps then
--@include recall
  end
  -- One in shadow can refuse what the others admit, and a lease that was held without a reservation is none.
  if allowed and not live[i] and (charge > 0 or known_before[i]) then
--@include keep-reservation
  end
end
--@include put-checks
return reply
