-- Looking through the log: needed only where entries have expired or a weighted request waits, and so made only there.
-- The first entry in low..high whose time is later than `cut`, or whose total over `before` reaches `excess`.
local function sliding_window_search(key, small, low, high, cut, before, excess)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local text = small or redis.call('GETRANGE', key, 1 + 10 * middle, 10 + 10 * middle)
    local time, total = struct.unpack(ENTRY, text, small and 6 + 10 * middle or 1)
    if excess and (total - before) % MODULUS >= excess or not excess and time > cut then high = middle
    else low = middle + 1 end
  end
  return low
end

-- Time of the entry at `index`, and the running total of the one before it.
local function sliding_window_entry(key, small, index)
  if small then return (struct.unpack('<I6', small, 6 + 10 * index)), (struct.unpack('<I4', small, 2 + 10 * index)) end
  local total, time = struct.unpack('<I4I6', redis.call('GETRANGE', key, 10 * index - 3, 10 * index + 6))
  return time, total
end

-- The first entry from `tail` on that is later than `cut`, most often the very next or one soon after it; its time, and
-- the running total before it.
local function sliding_window_advance(key, small, tail, last, cut)
  local near = tail + 15 < last and tail + 15 or last
  local block = small or redis.call('GETRANGE', key, 1 + 10 * tail, 10 + 10 * near)
  local base = small and 6 or 1 - 10 * tail
  for index = tail, near do
    if struct.unpack('<I6', block, base + 10 * index) > cut then return index, sliding_window_entry(key, small, index) end
  end
  local found = sliding_window_search(key, small, near + 1, last, cut)
  return found, sliding_window_entry(key, small, found)
end

