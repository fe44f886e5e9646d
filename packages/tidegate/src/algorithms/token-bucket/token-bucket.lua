--[[
  The token bucket, twin of token-bucket.ts and deficit.ts:
    \5, time of the newest admission (6, ms), whole tokens that were missing right after it (4), and a remainder in
    window-ths of a token (6), which every refill of this window can be counted in.
  Each ms brings `refill` units, a token has `token` of them, and a unit is `share` window-ths. Every product is below
  2^53. Sets, besides what every algorithm sets: total and before, what is missing at `at` in tokens and units, and small,
  the state as it was read.
]]
local LONGEST_MS = 4503599627370496
local text = attempt('GETRANGE', key, 0, 17)
local refill, token, share, elapsed = resolution, tonumber(ARGV[row + 5]), tonumber(ARGV[row + 6]), 0
at, total, before, small, plain, charge, unsettled, found = now, 0, 0, text, false, cost, false, nil
if text.err then failed = text.err
elseif #text > 0 then
  if #text == 17 and string.byte(text) == 5 then
    local last
    last, total, before = unpack_bytes('<I6I4I6', text, 2)
    elapsed = now - last
    -- Rounded up where another refill has other units.
    before = math.ceil(before / share)
    if before > token then failed = UNREADABLE
    elseif before == token then total, before = total + 1, 0 end
    -- Further ahead than a full refill: the clock came right, and what was missing then is missing now.
    if elapsed < 0 then
      if -elapsed > window then unsettled = true else at = last end
      elapsed = 0
    end
  else failed = UNREADABLE end
end
-- Until the bucket is full, from `at`.
local periods = floor(total / refill)
local units = (total - periods * refill) * token + before
reset = math.min(periods * token + math.ceil(units / refill) - elapsed, LONGEST_MS)
if reset <= 0 then total, before, reset = 0, 0, 0
elseif elapsed > 0 then
  local over = elapsed % token
  units = over * refill
  total = total - (elapsed - over) / token * refill - floor(units / token)
  before = before - units % token
  if before < 0 then total, before = total - 1, before + token end
end
used = before > 0 and total + 1 or total
allowed = used + cost <= limit
-- Until so much has been refilled: all, once admitted, or what is short of this cost.
local missing = allowed and total + cost or total + cost - limit
periods = floor(missing / refill)
units = (missing - periods * refill) * token + before
full = math.min(periods * token + math.ceil(units / refill), LONGEST_MS) + at - now
wait = allowed and 0 or cost > limit and -1 or full
reset = reset + at - now
