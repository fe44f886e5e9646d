--[[
  Decides a batch of requests, one after the other, each all-or-nothing over its checks.

  KEYS     one key for each check
  ARGV[1]  ms since the epoch, or '' for the server's own time
  ARGV[2]  number of quotas; then limit and window (ms) of each
  then     for each check an operation, 8 * quota + 4 * has_cost + 2 * peek + more, where `more` says that
           the next check belongs to the same request; behind it the cost, where has_cost, else the cost is 1
  Reply    the time; then for each check one of
             used                        admitted at that time, with the cost charged
             -1 - 2 * ahead, used, reset         admitted, or would be but for another check of its request
             -2 - 2 * ahead, used, wait, reset   refused; wait -1 is never
           (`ahead`: the decision was made so many ms ahead of the clock, which had stepped back), or for a
           request that cannot be decided one error text in the place of its first check, and '' for the others
]]
--@include prelude
--@include ../../../algorithms/sliding-window/sliding-window
--@include ../../../algorithms/sliding-window/sliding-window-commit
local now, injected = tonumber(ARGV[1]), true
if not now then
  local time = call('TIME')
  now, injected = time[1] * 1000 + floor(time[2] / 1000), false
end
local limits, windows, quotas = {}, {}, tonumber(ARGV[2])
for quota = 1, quotas do
  limits[quota], windows[quota] = tonumber(ARGV[1 + 2 * quota]), tonumber(ARGV[2 + 2 * quota])
end
local reply, filled, argument, check = { now }, 1, 3 + 2 * quotas, 1

local function put_general(allowed, used, wait, reset, ahead)
  reply[filled + 1], reply[filled + 2] = (allowed and -1 or -2) - 2 * ahead, used
  if allowed then reply[filled + 3], filled = reset, filled + 3
  else reply[filled + 3], reply[filled + 4], filled = wait, reset, filled + 4 end
end

local function put_charged(used, cost, window, reset, at)
  if cost == 0 then return put_general(true, used, 0, reset, at - now) end
  if at == now then filled = filled + 1 reply[filled] = used + cost return end
  put_general(true, used + cost, 0, window + at - now, at - now)
end

local function put_error(text, count)
  for i = 1, count do filled = filled + 1 reply[filled] = i == 1 and text or '' end
end

-- The next operation: limit, window, cost, whether it only peeks, whether more checks belong to its request.
local function next_operation()
  local operation, cost = tonumber(ARGV[argument]), 1
  argument = argument + 1
  if floor(operation / 4) % 2 == 1 then cost = tonumber(ARGV[argument]) argument = argument + 1 end
  local quota = floor(operation / 8)
  return limits[quota], windows[quota], cost, floor(operation / 2) % 2 == 1, operation % 2 == 1
end
--@include decide-one
--@include decide-several
while check <= #KEYS do
  local limit, window, cost, peek, more = next_operation()
  if more then decide_several(limit, window, cost, peek) else decide_one(limit, window, cost, peek) end
end
return reply
