-- Gives back up to `amount` of what token-bucket.lua found, as statements. Sets refunded, or failed.
-- What the bucket has refilled since the admission is perhaps just these tokens: they are not given back again. One that is
-- ahead of the clock was counted anew when that came right: how much is left of it is not known.
local elapsed = oldest_first and 0 or time and time <= at and at - time or nil
if not failed and used > 0 and elapsed then
  local over = elapsed % token
  local gone = (elapsed - over) / token * refill + floor(over * refill / token)
  local gone_rest = over * refill % token
  -- What was missing before it was refilled first.
  if gone < used_before then gone, gone_rest = 0, 0 else gone = gone - used_before end
  -- Tokens, and units, that would be missing had there been no refill: they are all given back, or more than `amount`.
  local still = total + gone + math.ceil((before + gone_rest) / token)
  if gone < amount then
    local written
    if still <= amount then
      refunded = used
      written = attempt('DEL', key)
    else
      refunded = amount - gone
      -- Made at the newest admission, because the clock can step back to it; where it came right, that is now.
      local last, whole, rest = unpack_bytes('<I6I4I6', small, 2)
      if unsettled then last, whole, rest = now, total, before * share end
      rest = rest + gone_rest * share
      if rest >= token * share then rest, gone = rest - token * share, gone + 1 end
      local life = reset + SLACK_MS
      if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
      local state = '\5' .. pack_bytes('<I6I4I6', last, whole + gone - amount, rest)
      written = attempt('SET', key, state, 'PX', life)
    end
    if type(written) == 'table' and written.err then failed = written.err end
  end
end
