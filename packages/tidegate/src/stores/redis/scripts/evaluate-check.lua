-- What the check of `key` would get, its block and its rule's penalty considered.
blocked, penalty, failed = false, false, nil
repeat
  local again = false
--@include evaluate
  if failed then
--@include find-block
  end
until not again
if blocked or not allowed and ARGV[row + 2] ~= '' then
--@include apply-block
end
