-- The lease that concurrency.lua found live lives on for its whole time from `at`, as statements. Sets failed where
-- nothing can be written.
if not failed and found then
  local written
  -- Where the clock came right, all that are live are renewed.
  if unsettled then written = attempt('ZADD', key, NO_LEASES - used, '+')
  else written = attempt('ZADD', key, at + window, '=' .. id) end
  if type(written) == 'table' then failed = written.err
  else
    redis.call('ZADD', key, NO_LEASES - used, '+')
--@include concurrency-settle
    local life = window + at - now + SLACK_MS
    if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
    redis.call('PEXPIRE', key, life)
  end
end
