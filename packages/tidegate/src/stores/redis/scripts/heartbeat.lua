--[[
  Says that an instance lives for so many ms more, and counts those that live.

  KEYS[1]  a sorted set: the instances, by when they are no longer believed to live, ms since the epoch
  ARGV[1]  the time, as clock.lua reads it
  ARGV[2]  the instance
  ARGV[3]  for how many ms from now; 0: it leaves
  Reply    how many live
]]
--@include prelude
--@include clock
local key, life = KEYS[1], tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
if life > 0 then
  redis.call('ZADD', key, now + life, ARGV[2])
  if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
  redis.call('PEXPIRE', key, life + SLACK_MS)
else redis.call('ZREM', key, ARGV[2]) end
return redis.call('ZCARD', key)
