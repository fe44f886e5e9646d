-- Counts one more check of the request, which is admitted only if all its checks are that are enforced.
admitted = admitted and (allowed or shadow) and not probe
if failed and not broken then broken, culprit = failed, count end
-- A request with one check, which is most of them, keeps it in the variables.
if more or steps then
  steps = steps or {}
  steps[count] = { key, allowed, used, wait, reset, full, at, plain, charge, unsettled, found, blocked, penalty, row,
    algorithm, limit, window, resolution, cost, id, total, length, small, newest, tail, before, oldest, expiry }
end
