-- Gives back up to `amount` of what quota.lua found, as statements. Sets refunded, or failed.
if not failed and used > 0 then
  refunded = math.min(amount, used)
  local written
  if refunded == used then written = attempt('DEL', key)
  else written = attempt('SET', key, '\7' .. pack_bytes('<I8', used - refunded)) end
  if type(written) == 'table' and written.err then failed = written.err end
end
