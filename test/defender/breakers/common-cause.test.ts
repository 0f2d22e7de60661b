import { describe, expect, it } from 'vitest';
import { type FaultSample, findCommonCauses } from '../../../src/defender/breakers/common-cause.ts';
import { createRandom, type Random } from '../../../src/sim/random.ts';

const SEEDS = 1000;
const LIMITS = { count: 3, percent: 60, lift: 2 };
/** 1,000 machines in three zones, with two versions, of which this many have the new one. */
function having(newer: number): ReadonlyMap<string, number> {
  return new Map([
    ['zone=a', 334],
    ['zone=b', 333],
    ['zone=c', 333],
    ['version=old', 1000 - newer],
    ['version=new', newer],
  ]);
}

/** So many of the faulty machines have the new version; their zones differ. */
function sample(sharing: number, faulty: number, newer: number): FaultSample {
  const machines = Array.from(
    { length: faulty },
    (_, index) => new Set([`zone=${'abc'[index % 3] ?? ''}`, `version=${index < sharing ? 'new' : 'old'}`]),
  );
  return { faults: new Map([['Ready', machines]]), fleet: 1000, having: having(newer) };
}

function found(...sizes: Parameters<typeof sample>): readonly string[] {
  return findCommonCauses(sample(...sizes), LIMITS).map(({ value }) => value);
}

describe('findCommonCauses', () => {
  it.each<[string, Parameters<typeof sample>, boolean]>([
    ['all of 6 faulty machines, of 21 % of the fleet', [6, 6, 210], true],
    ['all of 5: it may be chance', [5, 5, 210], false],
    ['9 of 10', [9, 10, 210], true],
    ['8 of 10', [8, 10, 210], true],
    ['6 of 10: it may be chance', [6, 10, 210], false],
    ['60 of 100', [60, 100, 210], true],
    ['59 of 100, below the share', [59, 100, 210], false],
    ['60 of 100, of 58 % of the fleet', [60, 100, 580], false],
    ['600 of 1,000 faults, of 58 % of the fleet', [600, 1000, 580], false],
    ['all of 1,000 faults, of half of the fleet', [1000, 1000, 500], false],
    ['all of 1,000 faults, of 49 % of the fleet', [1000, 1000, 490], true],
    ['80 of 100, of 40 % of the fleet', [80, 100, 400], true],
    ['79 of 100, of 40 % of the fleet: less than twice its share', [79, 100, 400], false],
    ['2 of 2, fewer than the count', [2, 2, 1], false],
    ['2 of 3, of one machine in a hundred', [2, 3, 10], false],
    ['3 of 3, of one machine in a hundred', [3, 3, 10], true],
  ])('R21 trips on a value that is shared by %s', (_, sizes, trips) => {
    expect(found(...sizes)).toEqual(trips ? ['version=new'] : []);
  });

  it('R21 names only the likeliest of values that go together, and of equals the first', () => {
    const machines = Array.from({ length: 8 }, () => new Set(['kernel=6.9', 'kubelet=1.35', 'image=b']));
    const both = new Map([
      ['image=b', 260],
      ['kubelet=1.35', 210],
      ['kernel=6.9', 210],
    ]);
    const faults = new Map([['Ready', machines]]);
    const causes = findCommonCauses({ faults, fleet: 1000, having: both }, LIMITS);
    expect(causes).toMatchObject([{ value: 'kubelet=1.35', condition: 'Ready', faulty: 8, sharing: 8 }]);
  });

  it('R21 finds a second cause among the machines that the first one does not explain', () => {
    const two = [
      ...Array.from({ length: 12 }, () => new Set(['kernel=6.9', 'rack=r1'])),
      ...Array.from({ length: 4 }, () => new Set(['kernel=6.1', 'rack=r2'])),
    ];
    const sizes = new Map([
      ['kernel=6.9', 200],
      ['kernel=6.1', 800],
      ['rack=r1', 300],
      ['rack=r2', 20],
    ]);
    const sampled = { faults: new Map([['Ready', two]]), fleet: 1000, having: sizes };
    const values = (known: readonly string[]): readonly string[] =>
      findCommonCauses(sampled, LIMITS, known).map(({ value }) => value);
    expect(values([])).toEqual(['kernel=6.9', 'rack=r2']);
    expect(values(['kernel=6.9'])).toEqual(['rack=r2']);
    expect(values(['kernel=6.9', 'rack=r2'])).toEqual([]);
  });

  it('R21 keeps conditions apart, and is stricter the more values it compares', () => {
    const six = sample(6, 6, 210);
    const machines = six.faults.get('Ready') ?? [];
    const split = new Map([
      ['Ready', machines.slice(0, 3)],
      ['DiskPressure', machines.slice(3)],
    ]);
    expect(findCommonCauses({ ...six, faults: split }, LIMITS)).toEqual([]);
    const racks = Array.from({ length: 500 }, (_, index): [string, number] => [`rack=r${index}`, 2]);
    const many = new Map([...six.having, ...racks]);
    expect(findCommonCauses({ ...six, having: many }, LIMITS)).toEqual([]);
  });

  it('R21 does not count a value that no machine of the fleet has', () => {
    expect(findCommonCauses({ ...sample(6, 6, 210), having: new Map() }, LIMITS)).toEqual([]);
  });

  // Each machine fails ten times a week. For an hour, each minute has a review of the ten minutes before.
  it(`R21 trips by chance in at most 1 % of ${SEEDS} seeds at ten times the fault rate`, () => {
    const wrong = Array.from({ length: SEEDS }, (_, index) => index + 1).filter(tripsByChance);
    expect(wrong.length).toBeLessThanOrEqual(SEEDS / 100);
  });
});

const MACHINES = 1000;
const MINUTES = 60;
const WINDOW = 10;
const FAULTS_A_MINUTE = (MACHINES * 10) / (7 * 1440);

/** Zones, racks, three kernels, four kubelets: every machine has one of each. */
function valuesOf(index: number): ReadonlySet<string> {
  const kubelet = [0, 0, 0, 0, 0, 1, 1, 1, 2, 3][(index * 7) % 10] ?? 0;
  const kernel = index % 11 < 6 ? 0 : (index % 11) % 3;
  return new Set([`zone=${index % 3}`, `rack=${index % 40}`, `kernel=${kernel}`, `kubelet=${kubelet}`]);
}

const FLEET = Array.from({ length: MACHINES }, (_, index) => valuesOf(index));
const SIZES = new Map<string, number>();
for (const value of FLEET.flatMap((values) => [...values])) SIZES.set(value, (SIZES.get(value) ?? 0) + 1);

function tripsByChance(seed: number): boolean {
  const random = createRandom(seed);
  let recent: (readonly ReadonlySet<string>[])[] = [];
  for (let minute = 0; minute < MINUTES; minute += 1) {
    recent = [...recent.slice(1 - WINDOW), failing(random)];
    const sampled = { faults: new Map([['Ready', recent.flat()]]), fleet: MACHINES, having: SIZES };
    if (findCommonCauses(sampled, LIMITS).length > 0) return true;
  }
  return false;
}

/** In one minute: by chance in each of its seconds. */
function failing(random: Random): readonly ReadonlySet<string>[] {
  const seconds = Array.from({ length: 60 }, () => random.chance(FAULTS_A_MINUTE / 60));
  return seconds.flatMap((fails) => {
    const machine = fails ? random.pick(FLEET) : undefined;
    return machine ? [machine] : [];
  });
}
