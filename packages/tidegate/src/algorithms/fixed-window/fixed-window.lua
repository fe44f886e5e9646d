--[[
  The fixed window, twin of fixed-window.ts: \4, start of the window (6, ms since the epoch), its length (5, ms), newest
  admission after the start (5, ms), count (4), little-endian.

  Its parameters: how windows begin. 0: at multiples of `window`; 1: with the first admission; 2: with the calendar,
  which this script does not know: then four times around the one that the client takes for now, between which three
  windows lie. Where none of the three is needed they are not looked at, and where they do not reach, it fails with RANGE.
]]
--@include fixed-window-state
at, charge, plain, unsettled, found = now, cost, resolution == 0, false, nil
local anew = now >= oldest + length
if anew then used = 0
elseif newest - now > length then anew, unsettled = true, true
elseif now < newest then at = newest end
if anew and resolution == 0 then oldest, length = now - now % window, window
elseif anew and resolution == 1 then oldest, length = now, window
elseif anew then
  length = 0
  for i = row + 5, row + 7 do
    local start, next_start = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
    if now >= start and now < next_start then oldest, length = start, next_start - start end
  end
  if length == 0 then failed = failed or OUT_OF_RANGE end
end
full = oldest + length - now
allowed, reset = used + cost <= limit, used > 0 and full or 0
wait = allowed and 0 or cost > limit and -1 or full
