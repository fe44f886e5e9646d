--[[
  The exact sliding window, twin of sliding-window.ts: the log of (time, running total) as one string.

  An entry is 10 bytes: time (6, ms since the epoch), running total (4, modulo 2^32). Two forms:
    small  \1, total before the first entry (4), entries.                  At most SMALL_ENTRIES.
    log    \2, entries, and behind the newest a trailer of 25 bytes: number of entries (4), index of the
           oldest that counted at the last write (4), total before it (4), its time (6), expiry (6), \2.
  Times are little-endian. An admission to the log is one GETRANGE and one SETRANGE; small states are
  rewritten whole, which leaves no slack in memory. A refusal is one GETRANGE, of REACH bytes from the end.

  Expiry only collects garbage: it is never earlier than the newest admission + window, and never
  part of a decision.
]]
local REACH = 192
local FROM_END = '-192'
local SMALL_ENTRIES = 18
local MODULUS = 4294967296
local ENTRY = '<I6I4'
local NEWEST_AND_TRAILER = '<I6I4I4I4I4I6I6'
local UNREADABLE = 'UNREADABLE this version cannot read what is stored here'

--[[ What `cost` would get at `clock`. Returns an error reply, or
  allowed, used, wait (-1 never), reset, at: `used` and `reset` without this cost; and what commit needs:
  total, length (0: write anew with this total), small, newest, tail, before, oldest, expiry. ]]
local function sliding_window_evaluate(key, limit, window, cost, clock)
  local text = attempt('GETRANGE', key, FROM_END, '-1')
  if type(text) == 'table' then return text end
  local size, at, never = #text, clock, cost > limit and -1
  if size == 0 then return not never, 0, never or 0, 0, at, 0, 0 end
  local small, newest, total, length, tail, before, oldest, expiry
  if size == REACH then
    if string.byte(text, size) ~= 2 then return { err = UNREADABLE } end
    newest, total, length, tail, before, oldest, expiry = unpack_bytes(NEWEST_AND_TRAILER, text, 158)
  else
    length = (size - 5) / 10
    if string.byte(text, 1) ~= 1 or length < 1 or length % 1 ~= 0 then return { err = UNREADABLE } end
    small, tail, before, oldest = text, 0, unpack_bytes('<I4I6', text, 2)
    newest, total = unpack_bytes(ENTRY, text, size - 9)
  end
  if tail >= length or oldest > newest then return { err = UNREADABLE } end
  local rebased = newest - clock > window
  if clock < newest and not rebased then at = newest end
  local cut = (rebased and newest or at) - window
  if newest <= cut then return not never, 0, never or 0, 0, at, 0, 0 end
  if oldest <= cut then
--@include sliding-window-search
    tail = sliding_window_advance(key, small, tail + 1, length - 1, cut)
    oldest, before = sliding_window_entry(key, small, tail)
  end
  local used = (total - before) % MODULUS
  local excess = used + cost - limit
  if rebased then return excess <= 0, used, never or excess > 0 and window or 0, window, at, used, 0 end
  local wait = never or 0
  if excess > 0 and not never then
    local freed = oldest
    if excess > 1 then
--@include sliding-window-search
      local index = sliding_window_search(key, small, tail, length - 1, 0, before, excess)
      if index > tail then freed = sliding_window_entry(key, small, index) end
    end
    wait = freed + window - clock
  end
  return excess <= 0, used, wait, newest + window - clock, at, total, length, small, newest, tail, before, oldest, expiry
end
