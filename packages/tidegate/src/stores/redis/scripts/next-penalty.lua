-- How long the rule blocks a key that is refused now: longer each time, and from the first again when it has held out.
-- `key:penalties`: \8, how many there were in a row (1), until when they are remembered (6, ms). Where they cannot be read,
-- because a slot moves or something else stands there, the refusal stays without one.
local memory = attempt('GETRANGE', key .. ':penalties', 0, 8)
if memory == '' or type(memory) == 'string' and #memory == 8 and string.byte(memory) == 8 then
  local blocks, times, longest = {}, 0, 0
  for number in string.gmatch(ARGV[row + 2], '%d+') do blocks[#blocks + 1] = tonumber(number) end
  for i = 2, #blocks do longest = math.max(longest, blocks[i]) end
  if memory ~= '' then
    local count, remembered = unpack_bytes('<I1I6', memory, 2)
    -- Those of a clock that had jumped ahead would be remembered for longer than any are: they are not.
    if now < remembered and remembered - now <= longest + blocks[1] then times = count end
  end
  left = blocks[math.min(times + 2, #blocks)]
  penalty = { left, math.min(times + 1, #blocks - 1), now + left + blocks[1] }
end
