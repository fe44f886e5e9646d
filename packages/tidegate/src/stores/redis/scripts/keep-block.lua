-- A block must not expire before the state that it keeps aside; one for ever never does, nor one over a state that never does.
if key ~= KEYS[1] and not failed then
  local life, left = redis.call('PTTL', key), redis.call('PTTL', KEYS[1])
  if left >= 0 and life == -1 then redis.call('SET', KEYS[1], block)
  elseif left >= 0 and life > left then redis.call('PEXPIRE', KEYS[1], life) end
end
