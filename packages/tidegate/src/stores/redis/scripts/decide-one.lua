-- A request with one check, which is most of them: nothing is kept between looking and writing.
local function finish_one(key, window, cost, peek, allowed, used, wait, reset, at, total, length, ...)
  if type(allowed) == 'table' then return put_error(allowed.err, 1) end
  if not peek and cost > 0 and (allowed or length == 0 and total > 0) then
    local written = sliding_window_commit(key, window, allowed and cost or 0, now, injected, at, total, length, ...)
    if type(written) == 'table' and written.err then return put_error(written.err, 1) end
  end
  if allowed then return put_charged(used, cost, window, reset, at) end
  put_general(false, used, wait, reset, at - now)
end

local function decide_one(limit, window, cost, peek)
  local key = KEYS[check]
  check = check + 1
  finish_one(key, window, cost, peek, sliding_window_evaluate(key, limit, window, cost, now))
end
