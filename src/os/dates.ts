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

/** The API server stores whole seconds. */
export function wholeSeconds(moment: Date): string {
  return moment.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
