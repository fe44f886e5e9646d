-- Where the key's own state is: aside, while a block stands in its place.
local block = attempt('GETRANGE', key, 0, 19)
if type(block) == 'string' and #block == 19 and string.byte(block) == 9 then key = key .. ':held' end
