-- The lease that concurrency.lua found live costs `charged` more, as statements; it is not renewed. Sets failed where
-- nothing can be written.
local written = attempt('ZADD', key, NO_LEASES - used, '+')
if type(written) == 'table' then failed = written.err
else
--@include concurrency-settle
  local own = -(redis.call('ZSCORE', key, '#' .. id) or -1)
  redis.call('ZADD', key, NO_LEASES - used - charged, '+', -own - charged, '#' .. id)
end
