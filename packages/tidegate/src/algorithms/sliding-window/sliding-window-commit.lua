--[[
  Writes what sliding-window.lua found, with `charged` at the tick of `at`, as statements. Sets failed where that fails.
  With nothing charged it settles a clock that has stepped back, and nothing else.
]]
local tick = at - at % resolution
total = (total + charged) % MODULUS
local merged, kept, written = tick == newest, nil, nil
if length == 0 then kept, before, oldest = '', 0, tick
elseif small then kept = sub(small, 6 + 10 * tail, 5 + 10 * (merged and length - 1 or length))
elseif not merged and tail + tail > length + 32 then kept = redis.call('GETRANGE', key, 1 + 10 * tail, 10 * length) end
if kept then
--@include sliding-window-write
else
  if not merged then length = length + 1 end
  local life
  -- The expiry is pushed out once in a window. Looking at it every 32 entries heals one that somebody took away.
  if expiry < tick + window or length % 32 == 0 then
    life = 2 * window + tick - now + SLACK_MS
    if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
    expiry = injected and 0 or now + life
  end
  newest = tick
--@include sliding-window-sum
  local last = pack_bytes(NEWEST_AND_TRAILER, newest, total, length, tail, before, oldest, expiry, sum, 2)
  written = attempt('SETRANGE', key, 10 * length - 9, last)
  if life and type(written) == 'number' then redis.call('PEXPIRE', key, life) end
end
if type(written) == 'table' then failed = written.err end
