-- Gives back up to `amount` of the window that is stored, if it is live, as statements. Sets refunded, or failed. No other
-- window is asked for: where the clock came right, what is left is moved by the next decision.
--@include fixed-window-state
local ends = oldest + length
local is_meant = oldest_first or time and time >= oldest and time < ends
if not failed and amount > 0 and now < ends and is_meant then
  refunded, total = math.min(amount, used), used - math.min(amount, used)
  local written
  if total == 0 then written = attempt('DEL', key)
  else
--@include fixed-window-write
  end
  if type(written) == 'table' and written.err then failed = written.err end
end
