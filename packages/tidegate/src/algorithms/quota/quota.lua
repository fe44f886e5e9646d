--[[
  A stock that has no window, twin of quota.ts: \7, used (8 bytes). It has no expiry.
]]
local text = attempt('GETRANGE', key, 0, 9)
at, used, plain, charge, unsettled, found = now, 0, false, cost, false, nil
if text.err then failed = text.err
elseif #text > 0 then
  if #text == 9 and string.byte(text) == 7 then used = unpack_bytes('<I8', text, 2) end
  if used < 1 or used > LARGEST_SUM then used, failed = 0, UNREADABLE end
end
allowed, reset, full = used + cost <= limit, used == 0 and 0 or -1, -1
wait = allowed and 0 or -1
