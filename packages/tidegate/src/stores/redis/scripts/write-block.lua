--[[
  Puts a block of `left` ms (-1: for ever) until `ends` in the place of the state of `key`, and the state aside.
  It must not expire before the state does, which would count from nothing. Sets failed where that fails.
]]
local held, life, written = key .. ':held', left, nil
local state = attempt('GETRANGE', key, 0, 13)
local stands = type(state) == 'string' and #state == 13 and string.byte(state) == 9
if not stands and redis.call('EXISTS', key) == 1 then
  written = attempt('RENAME', key, held)
elseif not stands then written = attempt('DEL', held) end
if type(written) == 'table' and written.err then failed = written.err
else
  local rest = redis.call('PTTL', held)
  if rest == -1 then life = -1 elseif life ~= -1 and rest > life then life = rest end
  if injected and life ~= -1 and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
  local block = '\9' .. pack_bytes('<I6I6', now, ends)
  written = life == -1 and attempt('SET', key, block) or life ~= -1 and attempt('SET', key, block, 'PX', life + SLACK_MS)
  if written.err then
    failed = written.err
    if not stands then attempt('RENAME', held, key) end
  end
end
