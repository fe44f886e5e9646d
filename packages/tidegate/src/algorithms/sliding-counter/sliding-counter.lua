--[[
  The sliding window counter, twin of sliding-counter.ts:
    \3, time of the newest admission (6, ms), the cost admitted in the window before that one (4), and in it (4).
  `resolution` is the window, `window` twice that. A count times a time can reach 2^67: long division with two digits of
  16 bits. Sets, besides what every algorithm sets: total and before, what the previous and the current window hold at
  `at`, and small, the state as it was read.
]]
local HALF = 65536
local text = attempt('GETRANGE', key, 0, 15)
at, used, total, before, small, plain, charge, unsettled, found = now, 0, 0, 0, text, true, cost, false, nil
if text.err then failed = text.err
elseif #text > 0 then
  if #text == 15 and string.byte(text) == 3 then
    local last
    last, total, before = unpack_bytes('<I6I4I4', text, 2)
    local time = last
    if last - now > window then unsettled = true
    else
      if now < last then at = last end
      local passed = at - at % resolution - last + last % resolution
      if passed == resolution then total, before = before, 0 elseif passed > 0 then total, before = 0, 0 end
      time = at
    end
    local part, high = resolution - time % resolution, floor(total / HALF)
    local digit = floor(high * part / resolution)
    local rest = (high * part - digit * resolution) * HALF + (total - high * HALF) * part
    used = before + digit * HALF + math.ceil(rest / resolution)
    -- The clock came right after having been far ahead: what counted then counts as made now.
    if unsettled then total, before = 0, used end
  else failed = UNREADABLE end
end
local left = resolution - at % resolution + at - now
full, allowed = left + resolution, used + cost <= limit
reset = before > 0 and full or total > 0 and left or 0
wait = cost > limit and -1 or 0
if not allowed and wait == 0 and not failed then
  -- Until so little is left of the previous window, or else, in the next one, of this.
  local room, of = limit - cost - before, total
  if room < 0 then left, room, of = full, limit - cost, before end
  local high = floor(room / HALF)
  local digit = floor(high * resolution / of)
  local rest = (high * resolution - digit * of) * HALF + (room - high * HALF) * resolution
  wait = left - digit * HALF - floor(rest / of)
end
