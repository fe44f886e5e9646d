-- The next operation. Most are like the one before.
cost, id = 1, nil
if run > 0 then run = run - 1
else
  local operation = ARGV[argument]
  argument = argument + 1
  if operation ~= known then
    known = operation
    operation = tonumber(operation)
    row = floor(operation / 256)
    algorithm, limit, window = tonumber(ARGV[row]), tonumber(ARGV[row + 1]), tonumber(ARGV[row + 3])
    resolution, weighted, identified = tonumber(ARGV[row + 4]), floor(operation / 8) % 2 == 1, floor(operation / 16) % 2 == 1
    several, alike = floor(operation / 128) % 2 == 1, floor(operation / 64) % 2 == 1
    shadow = floor(operation / 32) % 2 == 1
    probe, peek, more = floor(operation / 4) % 2 == 1, floor(operation / 2) % 2 == 1, operation % 2 == 1
    quick, tick = algorithm == 1 and not (probe or peek or more or alike) and ARGV[row + 2] == '', now - now % resolution
    fresh, life = tick + window, window + tick - now + SLACK_MS
    if injected and life < INJECTED_LIFE_MS then life = INJECTED_LIFE_MS end
  end
  if weighted then cost = tonumber(ARGV[argument]) argument = argument + 1 end
  if identified then id = ARGV[argument] argument = argument + 1 end
  if several then run = tonumber(ARGV[argument]) argument = argument + 1 end
  if alike then times = tonumber(ARGV[argument]) argument = argument + 1 end
end
