-- Writes what `evaluate` found, with `charged` at `at`.
if algorithm == 1 then
--@include ../../../algorithms/sliding-window/sliding-window-commit
elseif algorithm == 4 then
--@include ../../../algorithms/fixed-window/fixed-window-commit
elseif algorithm == 7 then
--@include ../../../algorithms/quota/quota-commit
end
