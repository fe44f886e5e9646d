-- A block must not expire before the state that it keeps aside, which is said in it; one for ever never does.
if key ~= KEYS[1] and not failed then
  local life, left = redis.call('PTTL', key), redis.call('PTTL', KEYS[1])
  if left >= 0 and life > left then redis.call('PEXPIRE', KEYS[1], life) end
  if life == -2 then redis.call('SETRANGE', KEYS[1], 13, pack_bytes('<I6', 0)) end
end
