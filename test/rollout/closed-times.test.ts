import { describe, expect, it } from 'vitest';
import type { Freeze, Window } from '../../src/api/generated/types.ts';
import {
  judgedLimit,
  judgingTimes,
  strictestFreezes,
  strictestTimes,
} from '../../src/rollout/closed-times.ts';
import type { ClosedTimes } from '../../src/rollout/maintenance-windows.ts';

const NIGHT: Window = { name: 'night', start: '22:00', end: '04:00', timeZone: 'UTC' };
const DAY: Window = { ...NIGHT, name: 'day', start: '08:00', end: '16:00' };

function dayOf(day: number): string {
  return `2030-01-0${day}T00:00:00Z`;
}

function freeze(name: string, from: number, until: number): Freeze {
  return { name, from: dayOf(from), until: dayOf(until), reason: name };
}

describe('strictestTimes', () => {
  it.each<[what: string, before: Window[], now: Window[], want: Window[]]>([
    ['those in force', [NIGHT], [DAY], [NIGHT]],
    ['those in force that were removed', [NIGHT], [], [NIGHT]],
    ['those that were added', [], [DAY], [DAY]],
    ['no windows', [], [], []],
  ])('S36 returns the windows that count: %s', (_, before, now, want) => {
    expect(strictestTimes({ windows: before, freezes: [] }, { windows: now, freezes: [] }).windows).toEqual(
      want,
    );
  });
});

describe('judgingTimes', () => {
  it('S36 returns the times of the spec, with those in force that it removed', () => {
    const own = { windows: [DAY], freezes: [freeze('b', 3, 4)], batches: [1] };
    expect(judgingTimes(own, undefined)).toEqual({ windows: [DAY], freezes: own.freezes });
    expect(judgingTimes(own, { windows: [NIGHT], freezes: [freeze('a', 1, 2)] })).toEqual({
      windows: [NIGHT],
      freezes: [freeze('a', 1, 2), freeze('b', 3, 4)],
    });
  });
});

describe('judgedLimit', () => {
  const sale = { windows: [], freezes: [freeze('sale', 1, 4)] };
  const open = { windows: [], freezes: [] };
  const text = 'freeze sale until 2030-01-04T00:00:00.000Z: sale';

  it.each<[what: string, declared: ClosedTimes, inForce: ClosedTimes | undefined, want: string | undefined]>([
    ['nothing is declared or in force', open, undefined, undefined],
    ['a freeze is declared', sale, undefined, text],
    ['it is in force, too', sale, sale, text],
    ['it was removed', open, sale, `${text} (in force before the last change of the set)`],
  ])('S36 tells why nothing begins when %s', (_, declared, inForce, want) => {
    expect(judgedLimit(declared, inForce, new Date(dayOf(2)), 'set')?.because).toBe(want);
  });
});

describe('strictestFreezes', () => {
  it.each<[what: string, before: Freeze[], now: Freeze[], want: Freeze[]]>([
    ['keeps one that was removed', [freeze('a', 1, 2)], [], [freeze('a', 1, 2)]],
    [
      'keeps the end of one that was shortened',
      [freeze('a', 1, 4)],
      [freeze('a', 1, 2)],
      [freeze('a', 1, 4)],
    ],
    ['keeps the start of one that was moved', [freeze('a', 1, 4)], [freeze('a', 2, 5)], [freeze('a', 1, 5)]],
    ['adds a new one', [freeze('a', 1, 2)], [freeze('b', 3, 4)], [freeze('a', 1, 2), freeze('b', 3, 4)]],
  ])('S36 returns the freezes that count: %s', (_, before, now, want) => {
    expect(strictestFreezes(before, now)).toEqual(want);
  });

  it('S36 cuts none of those in force at the bound of the schema', () => {
    const many = Array.from({ length: 32 }, (_, index) => freeze(`before-${index}`, 1, 2));
    expect(strictestFreezes(many, [freeze('new', 1, 2)])).toEqual(many);
  });
});
