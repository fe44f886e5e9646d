-- The next operation. Most are like the one before.
local operation = ARGV[argument]
argument = argument + 1
if operation ~= known then
  known = operation
  operation = tonumber(operation)
  local quota = floor(operation / 8)
  limit, window = limits[quota], windows[quota]
  weighted, peek, more = floor(operation / 4) % 2 == 1, floor(operation / 2) % 2 == 1, operation % 2 == 1
end
cost = 1
if weighted then cost = tonumber(ARGV[argument]) argument = argument + 1 end
