-- The variables of one of several checks.
key, allowed, used, wait, reset, full, at, plain, charge, unsettled, found, blocked, penalty, row,
  algorithm, limit, window, resolution, cost, id, total, length, small, newest, tail, before, oldest, expiry = unpack(steps[i], 1, 28)
