--[[
  Decides a batch of requests, one after the other, each all-or-nothing over its checks.

  KEYS     one key for each check
  ARGV[1]  the time, as clock.lua reads it
  ARGV[2]  number of words of the quotas; then the quotas, read when a check first asks for one:
           algorithm, limit, penalty ('' or 'forget,block,block,...', ms), span (ms), and what the algorithm needs besides
  then     for each check an operation, 256 * index of its quota in ARGV + 128 * run + 64 * alike + 32 * shadow + 16 * has_id
           + 8 * has_cost + 4 * probe + 2 * peek + more: `more` says that the next check belongs to the same request,
           `probe` that the request is not charged, as if a check elsewhere had refused it, `shadow` that this check
           refuses nobody: it is charged if the request is and it admits it; behind it the cost, where has_cost, else the
           cost is 1; then the id, where has_id; then, of a run, how many checks more have the operation; or, of equal
           requests with this one check, how many they are
  Reply    the time; then for each check one of
             used                        admitted at that time, with the cost charged, and a reset that the client knows
             -1 - 4 * ahead, used, reset         admitted, or would be but for another check of its request
             -2 - 4 * ahead, used, wait, reset   refused; a wait or reset of -1 is never
             -3 - 4 * ahead, used, wait, reset   blocked
             -4 - 4 * ahead, used, reset         admitted without a charge: a lease that was held already
           (`ahead`: the decision was made so many ms ahead of the clock, which had stepped back), or for a
           request that cannot be decided one error text in the place of the check at fault, and '' for the others:
           RANGE, with nothing done, where the window of a calendar was needed and is none of those that were sent
           Equal requests are answered in groups: how many there are in it, and the answer to the first of them. The
           others were charged behind it; nothing else differs.
           On a read-only replica, where nothing is written, the reply is that error, so that clients find the primary.

  Each algorithm is a few statements between its `evaluate` and its `commit`; a function would be made again by each call.
  They share the names below: `found` is what an algorithm's commit needs of what its evaluate has read.
]]
--@include prelude
--@include clock
local reply, filled, argument, check, run, times = { now }, 1, 3 + ARGV[2], 0, 0, 0
local known, row, algorithm, limit, window, resolution, cost, weighted, identified, id, shadow, probe, peek, more
local several, alike, quick, tick, fresh, life, fetched
local key, failed, allowed, used, wait, reset, full, at, plain, charge, unsettled, found, blocked, penalty
local total, length, small, newest, tail, before, oldest, expiry
while check < #KEYS or times > 0 do
  local steps, count, admitted, broken, culprit, answered = nil, 0, true, nil, 0, false
  repeat
    if times == 0 then
      check = check + 1
--@include next-operation
    end
    key = KEYS[check]
    if quick and count == 0 and cost > 0 then
--@include quick-window
    end
    if not answered then
      count = count + 1
--@include evaluate-check
--@include keep-check
    end
  until answered or not more
  if not answered then
--@include merge-alike
--@include charge-checks
    if times > 0 then
      charge, filled = cost, filled + 1
      reply[filled] = group
    end
--@include put-checks
    times = times - group
    known = steps == nil and known or nil
  end
end
return reply
