-- Replaces the whole state by the entries kept (as bytes) and one more, `total` at `tick`. Sets written.
length = #kept / 10 + 1
if length <= SMALL_ENTRIES then
  local life = window + tick - now + SLACK_MS
  if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
  written = attempt('SET', key, '\1' .. pack_bytes('<I4', before) .. kept .. pack_bytes(ENTRY, tick, total), 'PX', life)
else
  local life = 2 * window + tick - now + SLACK_MS
  if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
  newest, tail, expiry = tick, 0, injected and 0 or now + life
--@include sliding-window-sum
  local last = pack_bytes(NEWEST_AND_TRAILER, newest, total, length, tail, before, oldest, expiry, sum, 2)
  written = attempt('SET', key, '\2' .. kept .. last, 'PX', life)
end
