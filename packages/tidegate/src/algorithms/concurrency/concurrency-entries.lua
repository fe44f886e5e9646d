-- A page of the live leases that concurrency.lua found, by the time of their grant or renewal, as statements. A position
-- is `<expiry>=<id>`. Sets reply, or failed.
if not failed and used > 0 then
  local base = redis.call('ZCARD', key) - redis.call('ZCOUNT', key, 0, '+inf')
  local first, page, names = base + tail, nil, {}
  if after ~= '' then
    local expires, member = string.match(after, '^(%d+)(=.*)$')
    local score = redis.call('ZSCORE', key, member)
    -- One that has been renewed or has ended meanwhile says no more where the page begins: some then come twice.
    if score and tonumber(score) == tonumber(expires) then first = redis.call('ZRANK', key, member) + 1
    else first = math.max(first, base + redis.call('ZCOUNT', key, 0, '(' .. expires)) end
  end
  page = redis.call('ZRANGE', key, first, first + PAGE - 1, 'WITHSCORES')
  for i = 1, #page, 2 do
    if sub(page[i], 1, 1) ~= '=' then failed = UNREADABLE break end
    names[#names + 1] = '#' .. sub(page[i], 2)
  end
  local costs = #names > 0 and redis.call('ZMSCORE', key, unpack(names)) or {}
  for i = 1, failed and 0 or #names do
    local granted = unsettled and now or page[i + i] - window
    reply[3 * i], reply[3 * i + 1] = string.format('%.0f', granted), sub(names[i], 2)
    reply[3 * i + 2] = string.format('%.0f', -(costs[i] or -1))
  end
  if #names == PAGE then reply[1] = string.format('%.0f', page[PAGE + PAGE]) .. page[PAGE + PAGE - 1] end
end
