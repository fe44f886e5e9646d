-- Writes what sliding-log.lua found, with `charged` at `at`, as statements. Sets failed where that fails. With nothing
-- charged it settles a clock that has stepped back. What has expired is cleared away; the sum goes with it.
local written
if unsettled then
--@include sliding-log-settle
end
if not failed then
  local sum = string.format('%.0f', -1 - used - charged)
  if charged > 0 then
    local member = string.format('%.0f:%010.0f:%.0f:', at, at == newest and before + 1 or 0, charged) .. (id or '')
    written = attempt('ZADD', key, sum, 'used', at, member)
  else written = attempt('ZADD', key, sum, 'used') end
  if type(written) == 'table' then failed = written.err
  else
    if tail > 0 and not unsettled then redis.call('ZREMRANGEBYSCORE', key, 0, at - window) end
    local life = window + at - now + SLACK_MS
    if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
    redis.call('PEXPIRE', key, life)
  end
end
