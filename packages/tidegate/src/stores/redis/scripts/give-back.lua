-- Gives back up to `amount` of what the key has admitted. Sets refunded, or failed. A fixed window need not be evaluated:
-- another one than the client has sent is not asked for.
if algorithm == 1 then
--@include ../../../algorithms/sliding-window/sliding-window
--@include ../../../algorithms/sliding-window/sliding-window-refund
elseif algorithm == 2 then
--@include ../../../algorithms/sliding-log/sliding-log
--@include ../../../algorithms/sliding-log/sliding-log-refund
elseif algorithm == 3 then
--@include ../../../algorithms/sliding-counter/sliding-counter
--@include ../../../algorithms/sliding-counter/sliding-counter-refund
elseif algorithm == 4 then
--@include ../../../algorithms/fixed-window/fixed-window-refund
elseif algorithm == 5 then
--@include ../../../algorithms/token-bucket/token-bucket
--@include ../../../algorithms/token-bucket/token-bucket-refund
elseif algorithm == 6 then
--@include ../../../algorithms/concurrency/concurrency
--@include ../../../algorithms/concurrency/concurrency-refund
elseif algorithm == 7 then
--@include ../../../algorithms/quota/quota
--@include ../../../algorithms/quota/quota-refund
end
