-- Reads key. Sets used, oldest (start of the window), length (of the window, ms; 0: there is none), newest (the newest
-- admission); or failed.
local text = attempt('GETRANGE', key, 0, 21)
used, oldest, length, newest = 0, now, 0, now
if text.err then failed = text.err
elseif #text > 0 then
  if #text == 21 and string.byte(text) == 4 then
    oldest, length, newest, used = unpack_bytes('<I6I5I5I4', text, 2)
    if newest >= length then failed = UNREADABLE end
    newest = oldest + newest
  else failed = UNREADABLE end
end
