import { elapsedText } from '../../api/elapsed.ts';

/** Formats how long ago a moment was, as kubectl does: 42s, 7m, 3h, 12d. */
export function formatAge(since: string | undefined, now: Date): string {
  return elapsedText(since, now.getTime()) || '-';
}

const TIME = /(?:\b(?<word>until|since|at) )?(?<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/g;

/** With each time in a text as how long ago it was, or how long it takes: `soaks until TIME` becomes `soaks for another 4m`. */
export function relativeTimes(text: string, now: Date): string {
  return text.replaceAll(TIME, (...found) => {
    const { word, time = '' } = found.at(-1) as { readonly word?: string; readonly time?: string };
    const isAhead = Date.parse(time) > now.getTime();
    const age = isAhead ? formatAge(now.toISOString(), new Date(time)) : formatAge(time, now);
    if (isAhead) return word === 'until' ? `for another ${age}` : `in ${age}`;
    if (word === 'since') return `for ${age}`;
    return word === 'until' ? `until ${age} ago` : `${age} ago`;
  });
}

/** With neither times nor ages: texts that are equal then differ only by when they were read. */
export function withoutTimes(text: string): string {
  return text.replaceAll(TIME, '').replaceAll(/\b\d+[smhd] ago\b/g, '');
}

/** Twelve digits, as in the name of a Release; "-" without a commit. */
export function shortCommit(commit: string | undefined): string {
  return commit?.slice(0, 12) || '-';
}
