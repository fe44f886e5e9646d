--[[
  Decides a batch of requests, one after the other, each all-or-nothing over its checks.

  KEYS     one key for each check
  ARGV[1]  ms since the epoch, or '' for the server's own time
  ARGV[2]  number of quotas; then limit and window (ms) of each, read when a check first asks for it
  then     for each check an operation, 8 * quota + 4 * has_cost + 2 * peek + more, where `more` says that
           the next check belongs to the same request; behind it the cost, where has_cost, else the cost is 1
  Reply    the time; then for each check one of
             used                        admitted at that time, with the cost charged
             -1 - 2 * ahead, used, reset         admitted, or would be but for another check of its request
             -2 - 2 * ahead, used, wait, reset   refused; wait -1 is never
           (`ahead`: the decision was made so many ms ahead of the clock, which had stepped back), or for a
           request that cannot be decided one error text in the place of the check at fault, and '' for the others
           On a read-only replica, where nothing is written, the reply is that error, so that clients find the primary.
]]
--@include prelude
local now, injected, floor = tonumber(ARGV[1]), true, math.floor
if not now then
  local time = redis.call('TIME')
  now, injected = time[1] * 1000 + floor(time[2] / 1000), false
end
local reply, filled, argument, check = { now }, 1, 3 + 2 * ARGV[2], 1
local known, limit, window, cost, weighted, peek, more
local failed, allowed, used, wait, reset, at, total, length, small, newest, tail, before, oldest, expiry
while check <= #KEYS do
  local steps, first, count, admitted, broken, culprit = nil, check, 0, true, nil, 0
  repeat
    local key = KEYS[check]
    check, count = check + 1, count + 1
--@include next-operation
--@include ../../../algorithms/sliding-window/sliding-window
    admitted = admitted and allowed
    if failed and not broken then broken, culprit = failed, count end
    -- A request with one check, which is most of them, keeps it in the variables.
    if more or steps then
      steps = steps or {}
      steps[count] = { allowed, used, wait, reset, at, total, length, small, newest, tail, before, oldest, expiry, window, cost }
    end
  until not more
  for i = 1, not peek and not broken and count or 0 do
    if steps then
      allowed, used, wait, reset, at, total, length, small, newest, tail, before, oldest, expiry, window, cost =
        unpack(steps[i], 1, 15)
    end
    if cost > 0 and (admitted or length == 0 and total > 0) then
      local key, charged = KEYS[first + i - 1], admitted and cost or 0
      failed = nil
--@include ../../../algorithms/sliding-window/sliding-window-commit
      -- Where a server refuses writes (memory, a replica) it refuses the first one too, so that none is done.
      if failed then
        if string.find(failed, 'READONLY', 1, true) then return redis.error_reply(failed) end
        broken, culprit = failed, i
        break
      end
    end
  end
  for i = 1, count do
    if steps then allowed, used, wait, reset, at = unpack(steps[i], 1, 5) window, cost = steps[i][14], steps[i][15] end
    if not admitted then cost = 0 end
--@include put
  end
  known = steps == nil and known or nil
end
return reply
