-- Charges all checks of the request where it is admitted, none else; writes what its refusals lead to.
for i = 1, not peek and not broken and count or 0 do
  if steps then
--@include recall
  end
  local admitted = admitted and allowed
  if cost > 0 and (admitted or unsettled or penalty) then
    local charged = admitted and charge or 0
    failed = nil
    if admitted or unsettled then
--@include commit
    end
    if penalty and not failed then
--@include penalise
    end
    -- Where a server refuses writes (memory, a replica) it refuses the first one too, so that none is done.
    if failed then
      if string.find(failed, 'READONLY', 1, true) then return redis.error_reply(failed) end
      broken, culprit = failed, i
      break
    end
  end
end
