-- Writes what concurrency.lua found, with a lease of `charged` from `at` on where the request is admitted; one that is
-- live is renewed. Sets failed where that fails. The lease is written first: it is then none of the expired ones, unless
-- the clock came right.
local written
local sum = NO_LEASES - used - charged
if admitted and not unsettled then written = attempt('ZADD', key, sum, '+', at + window, '=' .. (id or ''))
else written = attempt('ZADD', key, sum, '+') end
if type(written) == 'table' then failed = written.err
else
--@include concurrency-settle
  if admitted and unsettled then redis.call('ZADD', key, at + window, '=' .. (id or '')) end
  if charged > 1 then redis.call('ZADD', key, -charged, '#' .. (id or ''))
  elseif charged == 1 and before > 1 then redis.call('ZREM', key, '#' .. (id or '')) end
  local life = window + at - now + SLACK_MS
  if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
  redis.call('PEXPIRE', key, life)
end
