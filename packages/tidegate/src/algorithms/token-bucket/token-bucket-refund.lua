-- Gives back up to `amount` of what token-bucket.lua found, as statements. Sets refunded, or failed.
if not failed and used > 0 and amount > 0 then
  local given = amount
  if not oldest_first then
    -- What the bucket has refilled since the admission is perhaps just these tokens. One that is ahead of the clock was
    -- counted anew when that came right: how much is left of it is not known.
    if time and time <= at then
      local over = (at - time) % token
      given = amount - (at - time - over) / token * refill - math.ceil(over * refill / token)
    else given = 0 end
  end
  given = math.min(given, used)
  local written
  if given == used then written = attempt('DEL', key)
  elseif given > 0 then
    -- Made at the newest admission, because the clock can step back to it; where it came right, that is now.
    local last, whole, rest = unpack_bytes('<I6I4I6', small, 2)
    local life = reset + SLACK_MS
    if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
    local state = '\5' .. pack_bytes('<I6I4I6', unsettled and now or last, whole - given, rest)
    written = attempt('SET', key, state, 'PX', life)
  end
  if type(written) == 'table' and written.err then failed = written.err
  elseif given > 0 then refunded = given end
end
