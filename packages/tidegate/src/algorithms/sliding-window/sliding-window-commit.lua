--[[
  Writes what sliding_window_evaluate found, with `cost` charged at `at`. Returns an error reply, or nothing.
  With a cost of 0 it settles a clock that has stepped back, and nothing else.
]]
local SLACK_MS = 1000
local INJECTED_LIFE_MS = 3600000

-- Milliseconds until a state written now may be collected. An injected clock does not run with the server's.
local function sliding_window_life(windows, at, clock, injected)
  local life = windows + at - clock + SLACK_MS
  if injected and life < INJECTED_LIFE_MS then return INJECTED_LIFE_MS end
  return life
end

-- Replaces the whole state by the entries `kept` (as bytes) and one more.
local function sliding_window_rewrite(key, window, clock, injected, at, kept, entry, before, oldest)
  local length = #kept / 10 + 1
  if length <= SMALL_ENTRIES then
    local life = sliding_window_life(window, at, clock, injected)
    return attempt('SET', key, '\1' .. pack_bytes('<I4', before) .. kept .. entry, 'PX', life)
  end
  local life = sliding_window_life(2 * window, at, clock, injected)
  local trailer = pack_bytes('<I4I4I4I6I6', length, 0, before, oldest, injected and 0 or clock + life)
  return attempt('SET', key, '\2' .. kept .. entry .. trailer .. '\2', 'PX', life)
end

local function sliding_window_commit(
  key, window, cost, clock, injected, at, total, length, small, newest, tail, before, oldest, expiry
)
  total = (total + cost) % MODULUS
  if length == 0 then
    return sliding_window_rewrite(key, window, clock, injected, at, '', pack_bytes(ENTRY, at, total), 0, at)
  end
  local merged = at == newest
  if small then
    local kept = sub(small, 6 + 10 * tail, 5 + 10 * (merged and length - 1 or length))
    return sliding_window_rewrite(key, window, clock, injected, at, kept, pack_bytes(ENTRY, at, total), before, oldest)
  end
  if merged then
    length = length - 1
  elseif tail + tail > length + 32 then
    local kept = redis.call('GETRANGE', key, 1 + 10 * tail, 10 * length)
    return sliding_window_rewrite(key, window, clock, injected, at, kept, pack_bytes(ENTRY, at, total), before, oldest)
  end
  local life
  -- The expiry is pushed out once in a window. Looking at it every 32 entries heals one that somebody took away.
  if expiry < at + window or length % 32 == 0 then
    life = sliding_window_life(2 * window, at, clock, injected)
    expiry = injected and 0 or clock + life
  end
  local text = pack_bytes('<I6I4I4I4I4I6I6I1', at, total, length + 1, tail, before, oldest, expiry, 2)
  local written = attempt('SETRANGE', key, 1 + 10 * length, text)
  if life and type(written) == 'number' then redis.call('PEXPIRE', key, life) end
  return written
end
