-- The answer to one check. Nothing is charged where its request was refused.
local charged = admitted and cost > 0
if broken then filled = filled + 1 reply[filled] = i == culprit and broken or ''
elseif charged and plain and at == now and charge > 0 then filled = filled + 1 reply[filled] = used + charge
elseif allowed then
  -- What is held or reserved already charges nothing, and must not be given back.
  reply[filled + 1] = (admitted and charge == 0 and -4 or -1) - 4 * (at - now)
  reply[filled + 2] = charged and used + charge or used
  reply[filled + 3], filled = charged and full or reset, filled + 3
else
  reply[filled + 1], reply[filled + 2], reply[filled + 3], reply[filled + 4] =
    (blocked and -3 or -2) - 4 * (at - now), used, wait, reset
  filled = filled + 4
end
