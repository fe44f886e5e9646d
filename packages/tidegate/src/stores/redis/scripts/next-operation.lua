-- The next operation. Most are like the one before.
local operation = ARGV[argument]
argument = argument + 1
if operation ~= known then
  known = operation
  operation = tonumber(operation)
  row = floor(operation / 64)
  algorithm, limit, window = tonumber(ARGV[row]), tonumber(ARGV[row + 1]), tonumber(ARGV[row + 3])
  resolution, weighted, identified = tonumber(ARGV[row + 4]), floor(operation / 8) % 2 == 1, floor(operation / 16) % 2 == 1
  shadow = floor(operation / 32) % 2 == 1
  probe, peek, more = floor(operation / 4) % 2 == 1, floor(operation / 2) % 2 == 1, operation % 2 == 1
end
cost, id = 1, nil
if weighted then cost = tonumber(ARGV[argument]) argument = argument + 1 end
if identified then id = ARGV[argument] argument = argument + 1 end
