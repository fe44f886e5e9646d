-- Writes what `evaluate` found, with `charged` at `at`.
if algorithm == 1 then
--@include ../../../algorithms/sliding-window/sliding-window-commit
elseif algorithm == 2 then
--@include ../../../algorithms/sliding-log/sliding-log-commit
elseif algorithm == 3 then
--@include ../../../algorithms/sliding-counter/sliding-counter-commit
elseif algorithm == 4 then
--@include ../../../algorithms/fixed-window/fixed-window-commit
elseif algorithm == 5 then
--@include ../../../algorithms/token-bucket/token-bucket-commit
elseif algorithm == 6 then
--@include ../../../algorithms/concurrency/concurrency-commit
elseif algorithm == 7 then
--@include ../../../algorithms/quota/quota-commit
end
