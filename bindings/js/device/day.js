/** Days, as finely as a device notes when it released something: whole numbers from 1970-01-01 (UTC) on, at most 9999-12-31. */

/** Before any day was seen. */
export const UNSEEN_DAY = 0;
/** 9999-12-31. */
export const LAST_DAY = 2_932_896;
const MILLISECONDS = 86_400_000;

/** What the system's clock says. */
export const systemDay = () => Math.min(Math.max(Math.floor(Date.now() / MILLISECONDS), UNSEEN_DAY), LAST_DAY);

/** A day in words: `2026-11-18`. */
export const dayText = (day) => new Date(day * MILLISECONDS).toISOString().slice(0, 10);

/** So many days later, at most the last. */
export const laterDay = (day, days) => Math.min(day + days, LAST_DAY);

/** Whether a value is such a day. */
export const isDay = (value) => Number.isSafeInteger(value) && value >= UNSEEN_DAY && value <= LAST_DAY && !Object.is(value, -0);
