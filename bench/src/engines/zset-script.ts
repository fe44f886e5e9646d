/**
 * The sliding window as a ZSET: score = time, member = `time:id`. One atomic step drops what has left the window, counts,
 * and records what it admits; the answer says whether, how many are used, and how long until the oldest leaves.
 *
 * KEYS[1] the log; ARGV: limit, window in ms, id of the request, the time in ms or `''` for the server's own.
 */
export const ZSET_SCRIPT = `
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local now = tonumber(ARGV[4])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
local used = redis.call('ZCARD', KEYS[1])
if used >= limit then
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  return {0, used, oldest[2] + window - now}
end
redis.call('ZADD', KEYS[1], now, string.format('%.0f', now) .. ':' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], window)
return {1, used + 1, 0}
`
