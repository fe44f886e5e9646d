-- A compact state, as the small one that it stands for.
if string.byte(text) == 3 and size > 8 and size % 5 == 3 then
  local _, first, recent = unpack_bytes(COMPACT, text)
  if unpack_bytes('<I4', text, size - 4) == recent % MODULUS then
    local parts = { '\1\0\0\0\0' }
    for position = 9, size, 5 do
      local low, sum = unpack_bytes(COMPACT_ENTRY, text, position)
      parts[#parts + 1] = pack_bytes(ENTRY, recent - (recent - low) % MODULUS, (sum - first) % 256)
    end
    text = table.concat(parts)
    size = #text
  end
end
