--[[
  Puts a block of `left` ms (-1: for ever) until `ends` in the place of the state of `key`, and the state aside.
  It must not expire before the state does, which would count from nothing. Sets failed where that fails.
]]
local held, life, aside, written = key .. ':held', left, 0, nil
local state = attempt('GETRANGE', key, 0, 19)
local stands = type(state) == 'string' and #state == 19 and string.byte(state) == 9
if not stands then
  written = attempt('RENAME', key, held)
  -- There is no state; what an unblocking that failed has left behind is none.
  if written.err and string.find(written.err, 'no such key', 1, true) then written = attempt('DEL', held) end
end
local rest = attempt('PTTL', held)
if type(written) == 'table' and written.err then failed = written.err
elseif type(rest) == 'table' then failed = rest.err
else
  if rest == -1 then life, aside = -1, FOREVER
  elseif rest >= 0 then
    aside = now + rest
    if life ~= -1 and rest > life then life = rest end
  end
  if injected and life ~= -1 and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
  local block = '\9' .. pack_bytes('<I6I6I6', now, math.min(ends, FOREVER), math.min(aside, FOREVER))
  written = life == -1 and attempt('SET', key, block) or life ~= -1 and attempt('SET', key, block, 'PX', life + SLACK_MS)
  if written.err then
    failed = written.err
    if not stands then attempt('RENAME', held, key) end
  end
end
