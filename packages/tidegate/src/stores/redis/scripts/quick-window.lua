--[[
  Most decisions of a sliding window, in the fewest steps: on a log of which nothing has expired, by a clock that has not
  stepped back. Goes on to the next check while they are of this kind. Sets answered where all were; else
  sliding-window.lua decides.
]]
repeat
  local text = attempt('GETRANGE', key, '-39', '-1')
  answered = false
  if #text == 39 then
    local newest, total, length, tail, before, oldest, expiry, check_sum, mark = unpack_bytes(NEWEST_AND_TRAILER, text)
--@include ../../../algorithms/sliding-window/sliding-window-sum
    if sum == check_sum and mark == 2 and newest <= now and now < oldest + window and oldest <= newest and tail < length then
      total = total + cost
      local used = total - before
      if used < 0 then used = used + MODULUS end
      if used <= limit then
        -- One that would push out the expiry, or look for it, is left to the others.
        if (injected or expiry >= fresh) and length % 32 ~= 0 then
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
  end
  local goes_on = answered and run > 0
  if goes_on then
    run, check = run - 1, check + 1
    key = KEYS[check]
  end
until not goes_on
