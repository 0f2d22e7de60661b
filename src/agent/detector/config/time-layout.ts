/** Layouts of time as Go writes them: by the reference time Mon Jan 2 15:04:05 2006 -0700. Pure. */

export interface TimeLayout {
  readonly text: string;
  /** The year of a layout without one is that of `now`. Undefined when the text does not have this layout. */
  parse(text: string, now: Date): Date | undefined;
}

interface TimeParts {
  year?: number;
  /** The month, which counts from 1. */
  month?: number;
  day?: number;
  hour?: number;
  minute?: number;
  second?: number;
  millisecond?: number;
  isAfternoon?: boolean;
  zoneMinutes?: number;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const LONG_MONTHS = 'january|february|march|april|may|june|july|august|september|october|november|december';
const DAYS = 'sunday|monday|tuesday|wednesday|thursday|friday|saturday';

interface Element {
  readonly expression: string;
  readonly set: (parts: TimeParts, text: string) => void;
}

const nothing = (): void => undefined;

/** The elements by their text in the layout. Longer texts come first, because `2006` is not `2` and `006`. */
const ELEMENTS: readonly (readonly [layout: string, element: Element])[] = [
  ['January', { expression: LONG_MONTHS, set: setMonth }],
  ['Monday', { expression: DAYS, set: nothing }],
  ['Jan', { expression: MONTHS.join('|'), set: setMonth }],
  ['Mon', { expression: 'sun|mon|tue|wed|thu|fri|sat', set: nothing }],
  ['MST', { expression: 'UTC|GMT', set: (parts) => (parts.zoneMinutes = 0) }],
  ['2006', { expression: '\\d{4}', set: (parts, text) => (parts.year = Number(text)) }],
  ['Z07:00', { expression: 'Z|[+-]\\d\\d:\\d\\d', set: setZone }],
  ['-07:00', { expression: '[+-]\\d\\d:\\d\\d', set: setZone }],
  ['Z0700', { expression: 'Z|[+-]\\d{4}', set: setZone }],
  ['-0700', { expression: '[+-]\\d{4}', set: setZone }],
  ['01', { expression: '\\d\\d', set: (parts, text) => (parts.month = Number(text)) }],
  ['02', { expression: '\\d\\d', set: setDay }],
  ['03', { expression: '\\d\\d', set: setHour }],
  ['04', { expression: '\\d\\d', set: (parts, text) => (parts.minute = Number(text)) }],
  ['05', { expression: '\\d\\d', set: (parts, text) => (parts.second = Number(text)) }],
  ['15', { expression: '\\d\\d?', set: setHour }],
  ['_2', { expression: ' ?\\d\\d?', set: setDay }],
  ['PM', { expression: 'AM|PM', set: (parts, text) => (parts.isAfternoon = text === 'PM') }],
  ['pm', { expression: 'am|pm', set: (parts, text) => (parts.isAfternoon = text === 'pm') }],
  ['06', { expression: '\\d\\d', set: (parts, text) => (parts.year = centuryOf(Number(text))) }],
  ['1', { expression: '\\d\\d?', set: (parts, text) => (parts.month = Number(text)) }],
  ['2', { expression: '\\d\\d?', set: setDay }],
  ['3', { expression: '\\d\\d?', set: setHour }],
  ['4', { expression: '\\d\\d?', set: (parts, text) => (parts.minute = Number(text)) }],
  ['5', { expression: '\\d\\d?', set: (parts, text) => (parts.second = Number(text)) }],
];

const FRACTION = /^[.,](?<digits>0+|9+)(?!\d)/;

/** A text explains why it is not a layout. */
export function parseTimeLayout(layout: string): TimeLayout | string {
  const elements: Element[] = [];
  const read = new Set<string>();
  for (let rest = layout; rest !== ''; ) {
    const [taken, element] = nextElement(rest);
    elements.push(element);
    if (element.set !== nothing) read.add(element.expression);
    // Go accepts a fraction after the seconds also where the layout has none.
    const hasFraction = FRACTION.test(rest.slice(taken.length));
    if (/^0?5$/.test(taken) && !hasFraction) elements.push({ expression: '(?:[.,]\\d+)?', set: setFraction });
    rest = rest.slice(taken.length);
  }
  if (read.size === 0) return `"${layout}" has no part of Go's reference time Mon Jan 2 15:04:05 2006`;
  const groups = elements.map(({ expression }) => `(${expression})`);
  const expression = new RegExp(`^${groups.join('')}$`, 'i');
  return {
    text: layout,
    parse(text, now) {
      const found = expression.exec(text);
      if (!found) return undefined;
      const parts: TimeParts = {};
      for (const [index, { set }] of elements.entries()) set(parts, found[index + 1] ?? '');
      return dateOf(parts, now);
    },
  };
}

function nextElement(rest: string): readonly [string, Element] {
  const fraction = FRACTION.exec(rest);
  if (fraction) return [fraction[0], fractionElement(fraction.groups?.['digits'] ?? '')];
  const known = ELEMENTS.find(([layout]) => rest.startsWith(layout));
  if (known) return known;
  const char = rest.charAt(0);
  return [char, { expression: char.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&'), set: nothing }];
}

/** .000 is exactly three digits, .999 any number or none. */
function fractionElement(digits: string): Element {
  const expression = digits.startsWith('9') ? '(?:[.,]\\d+)?' : `[.,]\\d{${digits.length}}`;
  return { expression, set: setFraction };
}

function setFraction(parts: TimeParts, text: string): void {
  if (text !== '') parts.millisecond = Math.floor(Number(`0.${text.slice(1)}`) * 1000);
}

function setMonth(parts: TimeParts, text: string): void {
  parts.month = MONTHS.indexOf(text.slice(0, 3).toLowerCase()) + 1;
}

function setDay(parts: TimeParts, text: string): void {
  parts.day = Number(text);
}

function setHour(parts: TimeParts, text: string): void {
  parts.hour = Number(text);
}

function setZone(parts: TimeParts, text: string): void {
  const [sign, digits] = [text.startsWith('-') ? -1 : 1, text.replaceAll(/\D/g, '').padEnd(4, '0')];
  parts.zoneMinutes = sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2)));
}

/** Returns the year that two digits stand for, as Go does: 69 to 99 are of the last century. */
function centuryOf(year: number): number {
  return year >= 69 ? 1900 + year : 2000 + year;
}

const START = { month: 1, day: 1, minute: 0, second: 0, millisecond: 0 };

function dateOf(parts: TimeParts, now: Date): Date | undefined {
  const all = { ...START, year: now.getFullYear(), ...parts, hour: hourOf(parts) };
  if (!isDate(all) || all.hour > 23 || all.minute > 59 || all.second > 59) return undefined;
  const { year, month, day, hour, minute, second, millisecond, zoneMinutes } = all;
  const fields = [year, month - 1, day, hour, minute, second, millisecond] as const;
  return zoneMinutes === undefined
    ? new Date(...fields)
    : new Date(Date.UTC(...fields) - zoneMinutes * 60_000);
}

/** February 30 would become a day in March. */
function isDate({ year, month, day }: Required<Pick<TimeParts, 'year' | 'month' | 'day'>>): boolean {
  return month >= 1 && month <= 12 && new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

function hourOf({ hour = 0, isAfternoon }: TimeParts): number {
  if (isAfternoon === undefined || hour > 12) return hour;
  return (hour % 12) + (isAfternoon ? 12 : 0);
}
