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
local now, injected, floor = tonumber(ARGV[1]), true, math.floor
if not now then
  local time = redis.call('TIME')
  now, injected = time[1] * 1000 + floor(time[2] / 1000), false
end
local limits, windows, quotas = {}, {}, tonumber(ARGV[2])
for quota = 1, quotas do
  limits[quota], windows[quota] = tonumber(ARGV[1 + 2 * quota]), tonumber(ARGV[2 + 2 * quota])
end
local reply, filled, argument, check = { now }, 1, 3 + 2 * quotas, 1
local known, limit, window, cost, weighted, peek, more
while check <= #KEYS do
--@include next-operation
  if more then
--@include decide-several
  else
--@include decide-one
  end
end
return reply
