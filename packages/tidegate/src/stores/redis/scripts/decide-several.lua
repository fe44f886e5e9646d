-- A request with several checks: all are looked at before any is written.
local found, admitted, failed, count, first = {}, true, nil, 0, check
local windows_of, costs = {}, {}
while true do
  count = count + 1
  local step = { sliding_window_evaluate(KEYS[check], limit, window, cost, now) }
  check = check + 1
  found[count], windows_of[count], costs[count] = step, window, cost
  if type(step[1]) == 'table' then failed = failed or step[1].err
  elseif not step[1] then admitted = false end
  if not more then break end
--@include next-operation
end
for i = 1, failed and 0 or count do
  local step, charged = found[i], admitted and costs[i] or 0
  if not peek and costs[i] > 0 and (admitted or step[7] == 0 and step[6] > 0) then
    local written = sliding_window_commit(KEYS[first + i - 1], windows_of[i], charged, now, injected, unpack(step, 5, 13))
    -- Writes fail together, for want of memory, and so with the first.
    if type(written) == 'table' and written.err then failed = written.err break end
  end
end
for i = 1, count do
  local allowed, used, wait, reset, at = unpack(found[i], 1, 5)
  local window, cost = windows_of[i], admitted and costs[i] or 0
--@include put
  if failed then failed = '' end
end
