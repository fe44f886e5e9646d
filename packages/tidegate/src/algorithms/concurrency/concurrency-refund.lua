-- Gives back up to `amount` of what concurrency.lua found, as statements: of the lease of this id, or of those that end
-- first. A lease of which nothing is left has ended. Sets refunded, or failed.
if not failed and used > 0 and amount > 0 and (found or oldest_first) then
  -- A lease that ends is taken away first: a server without memory lets that pass, and then the rest.
  local written
  if found and amount >= -(redis.call('ZSCORE', key, '#' .. id) or -1) then written = attempt('ZREM', key, '=' .. id)
  else written = attempt('ZADD', key, NO_LEASES - used, '+') end
  if type(written) == 'table' then failed = written.err
  else
--@include concurrency-settle
    local name = id
    repeat
      if oldest_first then
        local next_lease = redis.call('ZRANGEBYSCORE', key, 0, '+inf', 'LIMIT', 0, 1)[1]
        name = next_lease and sub(next_lease, 2)
      end
      if not name then break end
      local own = -(redis.call('ZSCORE', key, '#' .. name) or -1)
      local left = math.max(0, own - (amount - refunded))
      if left == 0 then redis.call('ZREM', key, '=' .. name) end
      if left > 1 then redis.call('ZADD', key, -left, '#' .. name)
      elseif own ~= 1 then redis.call('ZREM', key, '#' .. name) end
      refunded = refunded + own - left
    until not oldest_first or refunded >= amount
    if refunded >= used then redis.call('DEL', key) else redis.call('ZADD', key, NO_LEASES - used + refunded, '+') end
  end
end
