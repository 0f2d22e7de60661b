import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { QuietTime } from '../../../src/api/generated/types.ts';
import { createQuietStates } from '../../../src/defender/policies/quiet.ts';
import { windowState } from '../../../src/rollout/maintenance-windows.ts';
import { NOW } from '../builders.ts';

const WINDOWS: readonly QuietTime[] = [
  {
    name: 'evening',
    start: '18:00',
    end: '20:00',
    timeZone: 'Europe/Berlin',
    risks: [],
    exceptFaultClasses: [],
  },
  { name: 'night', start: '23:00', end: '05:00', timeZone: 'UTC', risks: [], exceptFaultClasses: [] },
];

it('R24 quiet windows with a comma in their names are told apart', () => {
  const [evening, night] = WINDOWS as [QuietTime, QuietTime];
  const states = createQuietStates();
  const moment = new Date('2030-01-01T23:30:00Z');
  expect(states([{ ...evening, name: 'a,b' }], moment).open).toBeUndefined();
  const both = [
    { ...evening, name: 'a' },
    { ...night, name: 'b' },
  ];
  expect(states(both, moment).open?.name).toBe('b');
});

it('R24 quiet windows have the state that they have without a cache, in any order of times', () => {
  const states = createQuietStates();
  fc.assert(
    fc.property(fc.integer({ min: -5000, max: 5000 }), fc.boolean(), (minutes, both) => {
      const windows = both ? WINDOWS : WINDOWS.slice(1);
      const now = new Date(+NOW + minutes * 60_000);
      expect(states(windows, now)).toEqual(windowState(windows, now));
    }),
  );
});

it('R24 quiet windows that never end are computed once a minute, and not for each decision', () => {
  const states = createQuietStates();
  const always = WINDOWS.slice(1).map((window) => ({
    ...window,
    name: 'always',
    start: '00:00',
    end: '00:00',
  }));
  const at = (seconds: number): unknown => states(always, new Date(+NOW + seconds * 1000));
  expect(at(0)).toEqual(windowState(always, NOW));
  expect(at(0)).toMatchObject({ open: { name: 'always' }, changesAt: undefined });
  expect(at(59)).toBe(at(0));
  expect(at(60)).not.toBe(at(0));
});
