-- Gives back up to `amount` of what sliding-window.lua found, as statements. Sets refunded, or failed.
if not failed and used > 0 and amount > 0 then
  -- The live entries; all of them one, made now, where the clock came right.
  local entries
  if length == 0 then entries, before = pack_bytes(ENTRY, now - now % resolution, used), 0
  elseif small then entries = sub(small, 6 + 10 * tail)
  else entries = redis.call('GETRANGE', key, 1 + 10 * tail, 10 * length) end
  if oldest_first then
    -- The log then begins later, perhaps within an entry.
    refunded = math.min(amount, used)
    before = (before + refunded) % MODULUS
    local position, last = 1, (before - refunded) % MODULUS
    while position < #entries do
      local _, sum = unpack_bytes(ENTRY, entries, position)
      if (sum - last) % MODULUS > refunded then break end
      position = position + 10
    end
    entries = sub(entries, position)
  elseif time then
    local position, wanted, found_time, sum = #entries - 9, time - time % resolution, nil, nil
    while position > 0 do
      found_time, sum = unpack_bytes(ENTRY, entries, position)
      if found_time <= wanted then break end
      position = position - 10
    end
    if found_time == wanted then
      local previous = position == 1 and before or unpack_bytes('<I4', entries, position - 4)
      local own = (sum - previous) % MODULUS
      refunded = math.min(amount, own)
      local parts = { sub(entries, 1, position - 1) }
      for i = refunded == own and position + 10 or position, #entries, 10 do
        local entry_time, entry_total = unpack_bytes(ENTRY, entries, i)
        parts[#parts + 1] = pack_bytes(ENTRY, entry_time, (entry_total - refunded) % MODULUS)
      end
      entries = table.concat(parts)
    end
  end
  local written
  if entries == '' then written = attempt('DEL', key)
  elseif refunded > 0 then
    local kept, tick = sub(entries, 1, -11), nil
    oldest = unpack_bytes('<I6', entries)
    tick, total = unpack_bytes(ENTRY, entries, #entries - 9)
--@include sliding-window-write
  end
  if type(written) == 'table' and written.err then failed = written.err end
end
