-- Gives back up to `amount` of what `evaluate` found. Of the fixed window that need not be asked: it has a state of its own.
if algorithm == 1 then
--@include ../../../algorithms/sliding-window/sliding-window-refund
elseif algorithm == 4 then
--@include ../../../algorithms/fixed-window/fixed-window-refund
elseif algorithm == 3 then
--@include ../../../algorithms/sliding-counter/sliding-counter-refund
elseif algorithm == 5 then
--@include ../../../algorithms/token-bucket/token-bucket-refund
elseif algorithm == 2 then
--@include ../../../algorithms/sliding-log/sliding-log-refund
elseif algorithm == 6 then
--@include ../../../algorithms/concurrency/concurrency-refund
elseif algorithm == 7 then
--@include ../../../algorithms/quota/quota-refund
end
