import * as fc from 'fast-check'

/** Edges of a calendar at which something out of the ordinary happens, in UTC. */
const EDGES: Record<string, readonly string[]> = {
  // The 29th of February and its absence, the turn of a year that is a Monday, and the epoch, before which no window starts.
  UTC: ['2024-02-29T00:00Z', '2024-03-01T00:00Z', '2100-03-01T00:00Z', '2024-01-01T00:00Z', '1970-01-01T00:00Z'],
  // The starts of a day of 23 hours and of the next; the clock put forward within it; and the same of one of 25 hours.
  'Europe/Berlin': [
    ...['2024-03-30T23:00Z', '2024-03-31T01:00Z', '2024-03-31T22:00Z'],
    ...['2024-10-26T22:00Z', '2024-10-27T00:00Z', '2024-10-27T01:00Z', '2024-10-27T23:00Z'],
  ],
  'America/New_York': [
    ...['2024-03-10T05:00Z', '2024-03-10T07:00Z', '2024-03-11T04:00Z'],
    ...['2024-11-03T04:00Z', '2024-11-03T06:00Z', '2024-11-04T05:00Z', '1970-01-01T05:00Z'],
  ],
  // By half an hour, which cuts an hour in two.
  'Australia/Lord_Howe': [
    ...['2024-04-06T13:00Z', '2024-04-06T15:00Z', '2024-04-06T15:30Z', '2024-04-07T13:30Z'],
    ...['2024-10-05T13:30Z', '2024-10-05T15:30Z', '2024-10-05T16:00Z', '2024-10-06T13:00Z'],
  ],
  // The 30th of December was left out.
  'Pacific/Apia': ['2011-12-29T10:00Z', '2011-12-30T10:00Z', '2011-12-31T10:00Z', '2012-01-01T10:00Z'],
  // From 0:01 back to 23:01 of the day before, which is over.
  'America/St_Johns': ['2010-11-07T02:30Z', '2010-11-07T02:31Z', '2010-11-07T03:30Z', '2010-11-08T03:30Z'],
}

/** Zones whose calendars random rules count by. */
export const CALENDAR_ZONES: readonly string[] = Object.keys(EDGES)

const edge = fc.constantFrom(...Object.values(EDGES).flat()).map((text) => Date.parse(text))

/** A time soon before one of the edges, or after it. Ms since the epoch. */
export const calendarTime = fc
  .record({ edge, before: fc.integer({ min: -20, max: 120 }) })
  .map(({ edge, before }) => Math.max(0, edge - before))
