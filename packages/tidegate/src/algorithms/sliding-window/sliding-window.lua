--[[
  The exact sliding window, twin of sliding-window.ts: the log of (time, running total) as one string.

  An entry is 10 bytes: time (6, ms since the epoch), running total (4, modulo 2^32). Three forms:
    small    \1, total before the first entry (4), entries.                At most SMALL_ENTRIES.
    compact  \3, total before the first entry (1), time of the newest (6), entries of 5 bytes: time (4, modulo 2^32), running
           total (1, modulo 256). Small ones of less than 256 in 49 days.
    log    \2, entries, and behind the newest a trailer of 29 bytes: number of entries (4), index of the
           oldest that counted at the last write (4), total before it (4), its time (6), expiry (6),
           a sum over these and the newest entry (4), \2. The sum tells our trailers from other text.
  Times are little-endian. An admission to the log is one GETRANGE and one SETRANGE; small states are
  rewritten whole, which leaves no slack in memory. A refusal is one GETRANGE, of REACH bytes from the end.

  Expiry only collects garbage: it is never earlier than the newest admission + window, and never
  part of a decision.
]]

--[[ What `cost` would get at `now`, as statements: a function would be made again by each call of the script.
  Reads key, limit, window (the span), resolution, cost, now. Sets failed, or allowed, used, wait (-1 never), reset, at:
  `used` and `reset` without this cost, `full` with it; and what commit needs: total, length (0: write anew with this
  total), small, newest, tail, before, oldest, expiry. ]]
local text = fetched or attempt('GETRANGE', key, FROM_END, '-1')
local size, mark = #text, 2
fetched = nil
at, used, reset, total, length, small, full = now, 0, 0, 0, 0, nil, window - now % resolution
allowed, wait, plain, charge, unsettled = cost <= limit, cost > limit and -1 or 0, true, cost, false
if size == REACH then
  local check_sum
  newest, total, length, tail, before, oldest, expiry, check_sum, mark = unpack_bytes(NEWEST_AND_TRAILER, text, 154)
--@include sliding-window-sum
  if mark ~= 2 or sum ~= check_sum then length = 0 failed = UNREADABLE end
elseif text.err then failed = text.err
elseif size > 0 then
--@include sliding-window-expand
  length, small, tail, mark = (size - 5) / 10, text, 0, string.byte(text)
  if mark ~= 1 or length < 1 or length % 1 ~= 0 then length = 0 failed = UNREADABLE
  else
    before, oldest = unpack_bytes('<I4I6', text, 2)
    newest, total = unpack_bytes(ENTRY, text, size - 9)
  end
end
if length > 0 then
  -- A log that does not hold what its trailer says is found out where it is searched: pcall keeps that to this request.
  local readable = tail < length and oldest <= newest
  if not readable then length = 0
  elseif newest <= now - window then total, length = 0, 0
  elseif newest - now > window then
    -- The clock came right after having been far ahead: what is live counts as made now.
    if oldest <= newest - window then
--@include sliding-window-search
      readable, tail, oldest, before =
        pcall(sliding_window_advance, key, small, tail + 1, length - 1, newest - window)
    end
    if readable then
      used = (total - before) % MODULUS
      allowed, reset, total, length, unsettled = used + cost <= limit, full, used, 0, true
      if wait == 0 and not allowed then wait = full end
    end
  else
    if now < newest then at, full = newest, newest - newest % resolution + window - now end
    if oldest <= at - window then
--@include sliding-window-search
      readable, tail, oldest, before = pcall(sliding_window_advance, key, small, tail + 1, length - 1, at - window)
    end
    if readable then
      used = (total - before) % MODULUS
      local excess = used + cost - limit
      allowed, reset = excess <= 0, newest + window - now
      if excess > 0 and wait == 0 then wait = oldest + window - now end
      if excess > 1 and wait > 0 then
--@include sliding-window-search
        local index
        readable, index = pcall(sliding_window_search, key, small, tail, length - 1, 0, before, excess)
        if readable and index > tail then wait = sliding_window_entry(key, small, index) + window - now end
      end
    end
  end
  if not readable then failed = UNREADABLE end
end
