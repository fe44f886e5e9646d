-- What the check would get, by its algorithm: the numbers are those of quotas.ts.
if algorithm == 1 then
--@include ../../../algorithms/sliding-window/sliding-window
elseif algorithm == 2 then
--@include ../../../algorithms/sliding-log/sliding-log
elseif algorithm == 3 then
--@include ../../../algorithms/sliding-counter/sliding-counter
elseif algorithm == 4 then
--@include ../../../algorithms/fixed-window/fixed-window
elseif algorithm == 5 then
--@include ../../../algorithms/token-bucket/token-bucket
elseif algorithm == 6 then
--@include ../../../algorithms/concurrency/concurrency
elseif algorithm == 7 then
--@include ../../../algorithms/quota/quota
end
