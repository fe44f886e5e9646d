-- Gives back up to `amount` of what sliding-counter.lua found, as statements. Sets refunded, or failed.
if not failed and used > 0 then
  -- From the window that the admission lies in, or from the oldest first.
  local from_previous, from_current = 0, 0
  local begun = at - at % resolution
  if oldest_first then
    from_previous = math.min(amount, total)
    from_current = math.min(amount - from_previous, before)
  elseif time and time - time % resolution == begun then from_current = math.min(amount, before)
  elseif time and time - time % resolution == begun - resolution then from_previous = math.min(amount, total) end
  refunded = from_previous + from_current
  local written
  if refunded == total + before then written = attempt('DEL', key)
  elseif refunded > 0 then
    local last, previous, current = now, 0, before - from_current
    if not unsettled then
      -- The newest admission stays where it is, because the clock can step back to it.
      last, previous, current = unpack_bytes('<I6I4I4', small, 2)
      if last - last % resolution == begun then previous, current = previous - from_previous, current - from_current
      else current = current - from_previous end
    end
    local life = reset + SLACK_MS
    if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
    written = attempt('SET', key, '\3' .. pack_bytes('<I6I4I4', last, previous, current), 'PX', life)
  end
  if type(written) == 'table' and written.err then failed = written.err end
end
