-- Writes down what the check has charged, and clears away some of its key that has expired: more than is added.
local name, expires = KEYS[#KEYS / 2 + i], now + ARGV[#ARGV]
local over = redis.call('ZRANGEBYSCORE', name, 0, now, 'LIMIT', 0, 256)
if #over > 0 then
  for j = 1, #over do
    local member = sub(over[j], 2)
    over[#over + 1], over[#over + 2] = '#' .. member, '@' .. member
  end
  redis.call('ZREM', name, unpack(over))
end
redis.call('ZADD', name, expires, '=' .. id, -cost, '#' .. id, NO_TIME - at, '@' .. id)
local life = redis.call('ZRANGE', name, -1, -1, 'WITHSCORES')[2] - now + SLACK_MS
if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
redis.call('PEXPIRE', name, life)
