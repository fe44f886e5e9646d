-- Replaces the whole state by the entries kept (as bytes) and one more, `total` at `tick`. Sets written.
length = #kept / 10 + 1
if length <= SMALL_ENTRIES then
  local life = window + tick - now + SLACK_MS
  if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
  local state
  if (total - before) % MODULUS < 256 and window < MODULUS then
    local parts = { pack_bytes(COMPACT, 3, 0, tick) }
    for position = 1, #kept, 10 do
      local time, sum = unpack_bytes(ENTRY, kept, position)
      parts[#parts + 1] = pack_bytes(COMPACT_ENTRY, time % MODULUS, (sum - before) % MODULUS)
    end
    state = table.concat(parts) .. pack_bytes(COMPACT_ENTRY, tick % MODULUS, (total - before) % MODULUS)
  else state = '\1' .. pack_bytes('<I4', before) .. kept .. pack_bytes(ENTRY, tick, total) end
  written = attempt('SET', key, state, 'PX', life)
else
  local life = 2 * window + tick - now + SLACK_MS
  if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
  newest, tail, expiry = tick, 0, injected and 0 or now + life
--@include sliding-window-sum
  local last = pack_bytes(NEWEST_AND_TRAILER, newest, total, length, tail, before, oldest, expiry, sum, 2)
  written = attempt('SET', key, '\2' .. kept .. last, 'PX', life)
end
