-- The answers to the checks of the request.
for i = 1, count do
  if steps then
--@include recall
  end
  local admitted = admitted and allowed
--@include put
end
