/**
 * The commands that an ACL user of Tidegate must be allowed, in capitals, for the keys `<prefix>:*`. First what the
 * store sends, then what its scripts call. Commands that a client sends for itself when it connects come on top.
 */
export const requiredCommands: readonly string[] = [
  'EVALSHA',
  'EVAL',
  'DEL',
  'PING',
  'TIME',
  'GETRANGE',
  'SET',
  'SETRANGE',
  'PEXPIRE',
  'PTTL',
  'RENAME',
  'ZADD',
  'ZCARD',
  'ZCOUNT',
  'ZMSCORE',
  'ZRANGE',
  'ZRANGEBYSCORE',
  'ZRANK',
  'ZREM',
  'ZREMRANGEBYRANK',
  'ZREMRANGEBYSCORE',
  'ZSCORE',
]
