-- How long the rule blocks a key that is refused now: longer each time, and from the first again when it has held out.
-- `key:penalties`: \8, how many there were in a row (1), until when they are remembered (6, ms). Where they cannot be read,
-- because a slot moves, the refusal stays without one.
local memory = attempt('GETRANGE', key .. ':penalties', 0, 8)
if type(memory) == 'string' then
  local blocks, times = {}, 0
  for number in string.gmatch(ARGV[row + 2], '%d+') do blocks[#blocks + 1] = tonumber(number) end
  if #memory == 8 and string.byte(memory) == 8 then
    local count, remembered = unpack_bytes('<I1I6', memory, 2)
    if now < remembered then times = count end
  end
  left = blocks[math.min(times + 2, #blocks)]
  penalty = { left, math.min(times + 1, #blocks - 1), now + left + blocks[1] }
end
