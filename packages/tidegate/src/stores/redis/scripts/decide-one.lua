-- A request with one check, which is most of them: nothing is kept between looking and writing.
local key, failed = KEYS[check], nil
check = check + 1
local allowed, used, wait, reset, at, total, length, small, newest, tail, before, oldest, expiry =
  sliding_window_evaluate(key, limit, window, cost, now)
if type(allowed) == 'table' then failed = allowed.err
elseif not peek and cost > 0 and (allowed or length == 0 and total > 0) then
  local written = sliding_window_commit(
    key, window, allowed and cost or 0, now, injected, at, total, length, small, newest, tail, before, oldest, expiry
  )
  if type(written) == 'table' then failed = written.err end
end
--@include put
