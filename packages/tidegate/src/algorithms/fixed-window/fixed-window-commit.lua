-- Writes what fixed-window.lua found, with `charged` at `at`, as statements. Sets failed where that fails.
local written
newest, total = at, used + charged
--@include fixed-window-write
if written.err then failed = written.err end
