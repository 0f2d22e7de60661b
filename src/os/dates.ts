/** Arithmetic of moments and seconds. Pure. */

export function secondsAfter(moment: Date, seconds: number): Date {
  return new Date(+moment + seconds * 1000);
}

export function secondsBetween(from: Date, to: Date): number {
  return (+to - +from) / 1000;
}

export function firstMoment(moments: readonly (Date | undefined)[]): Date | undefined {
  return moments
    .filter((moment) => moment !== undefined)
    .reduce<Date | undefined>((first, moment) => (first && first <= moment ? first : moment), undefined);
}

export function lastMoment(moments: readonly (Date | undefined)[]): Date | undefined {
  return moments
    .filter((moment) => moment !== undefined)
    .reduce<Date | undefined>((last, moment) => (last && last >= moment ? last : moment), undefined);
}

const ZONED_TIME = /^(?<day>\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/;

/** Returns the moment of a time with a zone. Undefined for another text, and for a day that no calendar has: Date would count on from it. */
export function parseZonedTime(text: string): Date | undefined {
  const day = ZONED_TIME.exec(text)?.groups?.['day'];
  const time = new Date(text);
  if (day === undefined || Number.isNaN(+time)) return undefined;
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? time : undefined;
}

/** The API server stores whole seconds. */
export function wholeSeconds(moment: Date): string {
  return moment.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
