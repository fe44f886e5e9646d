--[[
  Most decisions of a sliding window, in the fewest steps: on a log of which nothing has expired or on a compact state, by a
  clock that has not stepped back. Goes on to the next check while they are of this kind. Sets answered where all were;
  else sliding-window.lua decides, by what was fetched of the key. It says what the forms are.
]]
repeat
  local text = attempt('GETRANGE', key, FROM_END, '-1')
  local size = #text
  answered = false
  if size == REACH then
    local newest, total, length, tail, before, oldest, expiry, check_sum, mark = unpack_bytes(NEWEST_AND_TRAILER, text, 154)
--@include ../../../algorithms/sliding-window/sliding-window-sum
    if sum == check_sum and mark == 2 and newest <= now and now < oldest + window and oldest <= newest and tail < length then
      local used = (total - before) % MODULUS + cost
      total = total + cost
      if used <= limit then
        -- One that would push out the expiry, or look for it, is left to the others.
        if (injected or expiry >= fresh) and length % 32 ~= 31 then
          if total >= MODULUS then total = total - MODULUS end
          if tick == newest then sum = (sum + 3 * cost) % MODULUS
          else
            length = length + 1
            sum = (sum + tick - newest + 3 * cost + 5) % MODULUS
          end
          -- An error is left to be found again by what follows.
          answered = 10 * length + 30 == attempt('SETRANGE', key, 10 * length - 9,
            pack_bytes(NEWEST_AND_TRAILER, tick, total, length, tail, before, oldest, expiry, sum, 2))
          reply[filled + 1] = used
          if answered then filled = filled + 1 end
        end
      elseif used == limit + 1 and cost <= limit then
        reply[filled + 1], reply[filled + 2], reply[filled + 3], reply[filled + 4] =
          -2, used - cost, oldest + window - now, newest + window - now
        filled, answered = filled + 4, true
      end
    end
  elseif size > 8 then
    local mark, before, newest = unpack_bytes(COMPACT, text)
    local low, total = unpack_bytes(COMPACT_ENTRY, text, size - 4)
    if mark == 3 and size % 5 == 3 and newest <= now and newest > now - window and low == newest % MODULUS then
      local sum, position, oldest = before, 4, 0
      repeat
        position, before = position + 5, sum
        low, sum = unpack_bytes(COMPACT_ENTRY, text, position)
        oldest = newest - (newest - low) % MODULUS
      until oldest > now - window or position + 5 > size
      local used = (total - before) % 256 + cost
      if used <= limit and used < 256 then
        local last = tick == newest and size - 5 or size
        if last - position < COMPACT_ROOM then
          local written = attempt('SET', key, pack_bytes(COMPACT, 3, before, tick) .. sub(text, position, last)
            .. pack_bytes(COMPACT_ENTRY, tick % MODULUS, (total + cost) % 256), 'PX', life)
          if written.ok then
            filled, answered = filled + 1, true
            reply[filled] = used
          end
        end
      elseif used == limit + 1 and cost <= limit then
        reply[filled + 1], reply[filled + 2], reply[filled + 3], reply[filled + 4] =
          -2, used - cost, oldest + window - now, newest + window - now
        filled, answered = filled + 4, true
      end
    end
  end
  local goes_on = answered and run > 0
  if goes_on then
    run, check = run - 1, check + 1
    key = KEYS[check]
  elseif not answered then fetched = text end
until not goes_on
