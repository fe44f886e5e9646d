-- The answer to one check. Nothing is charged where its request was refused: `cost` is then 0.
if broken then filled = filled + 1 reply[filled] = i == culprit and broken or ''
elseif allowed and cost > 0 and at == now then filled = filled + 1 reply[filled] = used + cost
elseif allowed then
  if cost > 0 then used, reset = used + cost, window + at - now end
  reply[filled + 1], reply[filled + 2], reply[filled + 3], filled = -1 - 2 * (at - now), used, reset, filled + 3
else
  reply[filled + 1], reply[filled + 2], reply[filled + 3], reply[filled + 4] = -2 - 2 * (at - now), used, wait, reset
  filled = filled + 4
end
