-- The next operation. Most are like the one before.
local operation = ARGV[argument]
argument = argument + 1
if operation ~= known then
  known = operation
  operation = tonumber(operation)
  local quota = 2 * floor(operation / 8)
  limit, window = tonumber(ARGV[quota + 1]), tonumber(ARGV[quota + 2])
  weighted, peek, more = floor(operation / 4) % 2 == 1, floor(operation / 2) % 2 == 1, operation % 2 == 1
end
cost = 1
if weighted then cost = tonumber(ARGV[argument]) argument = argument + 1 end
