-- Over what the trailer says. Below 2^53, so that the modulus, a power of two, is exact.
local sum = (newest + 3 * total + 5 * length + 7 * tail + 11 * before + 13 * oldest + 15 * expiry) % MODULUS
