-- A block says until when there is a state aside, and must not expire before it does; one for ever never does.
if key ~= KEYS[1] and not failed then
  local life, left = redis.call('PTTL', key), redis.call('PTTL', KEYS[1])
  local aside = life == -2 and 0 or life == -1 and FOREVER or math.min(now + life, FOREVER)
  if life == -1 and left >= 0 then redis.call('SET', KEYS[1], sub(block, 1, 13) .. pack_bytes('<I6', aside))
  else
    redis.call('SETRANGE', KEYS[1], 13, pack_bytes('<I6', aside))
    if left >= 0 and life > left then redis.call('PEXPIRE', KEYS[1], life) end
  end
end
