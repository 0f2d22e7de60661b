import { describe, expect, it } from 'vitest';
import type {
  Breaker,
  DefenderLedgerSpec,
  LedgerBreaker,
  LedgerGrant,
} from '../../../src/api/generated/types.ts';
import { reviewBreakers } from '../../../src/defender/breakers/review.ts';
import { ledgerChanges } from '../../../src/defender/controller/changes.ts';
import type { MachineFacts } from '../../../src/defender/facts/facts.ts';
import { createFleetIndex } from '../../../src/defender/facts/fleet-index.ts';
import { createDraft, type LedgerDraft } from '../../../src/defender/ledger/draft.ts';
import { planLedger } from '../../../src/defender/ledger/plan.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import {
  ago,
  ask,
  breaker,
  entry,
  fleetFacts,
  ledgerSpec,
  machineFacts,
  machines,
  NOW,
  policy,
  secondsAgo,
} from '../builders.ts';

const CAUSE = breaker({
  name: 'cause',
  type: 'CommonCause',
  per: 'Cluster',
  count: 3,
  percent: 60,
  withinSeconds: 600,
  dimensions: ['zone', 'kubeletVersion', 'componentVersion'],
  manualAfterTrips: 9,
});
const BAD = { kubeletVersion: 'v1.35', componentVersion: ['kubelet-1.35', 'cni-1'] };
const GOOD = { kubeletVersion: 'v1.34', componentVersion: ['kubelet-1.34', 'cni-1'] };
const ID = 'fleet-default/cause/kubeletVersion=v1.35';
const OPEN: LedgerBreaker = { state: 'Open', since: ago(900), closesAt: ago(0), trips: 1, evidence: 'e' };

function named(prefix: string, count: number, facts: Partial<MachineFacts>): readonly MachineFacts[] {
  return Array.from({ length: count }, (_, index) => machineFacts(`${prefix}-${index + 1}`, facts));
}

function faultyFor(seconds: number, condition = 'Ready'): Partial<MachineFacts> {
  return { readiness: 'NotReady', faults: new Map([[condition, secondsAgo(seconds)]]) };
}

/** 200 machines, of which 20 have the new kubelet, and so many of these are faulty for so long. */
function fleet(faulty: number, seconds: number): readonly MachineFacts[] {
  return [
    ...machines(180, { dimensions: GOOD }),
    ...named('bad', faulty, { dimensions: BAD, ...faultyFor(seconds) }),
    ...named('new', 20 - faulty, { dimensions: BAD }),
  ];
}

interface Given {
  readonly ledger?: Partial<DefenderLedgerSpec>;
  readonly fields?: Partial<Breaker>;
  readonly spec?: Parameters<typeof policy>[0];
}

function review(all: readonly MachineFacts[], { ledger, fields, spec }: Given = {}): LedgerDraft {
  const policies = [policy({ breakers: [{ ...CAUSE, ...fields }], ...spec })];
  const draft = createDraft(ledgerSpec(ledger));
  reviewBreakers(draft, { policies: preparePolicies(policies), facts: fleetFacts(all, policies), now: NOW });
  return draft;
}

function shown({ breakers }: LedgerDraft): readonly string[] {
  return Object.entries(breakers).map(([id, { state, evidence = '' }]) => `${id} ${state}: ${evidence}`);
}

describe('reviewCauses', () => {
  it('R21 opens one breaker, that of the version, and reports why', () => {
    expect(shown(review(fleet(4, 60)))).toEqual([
      `${ID} Open: 4 of 4 machines with fault Ready within 600 s have it, and 10 % of the fleet`,
    ]);
  });

  it.each<[string, readonly MachineFacts[], Given]>([
    ['fewer than the count failed', fleet(2, 60), {}],
    ['the faults are old', fleet(20, 601), {}],
    [
      'the conditions differ',
      [...fleet(2, 60), ...named('x', 2, { dimensions: BAD, ...faultyFor(60, 'DiskPressure') })],
      {},
    ],
    ['the machines are young', fleet(4, 60).map((each) => ({ ...each, nodeCreatedAt: secondsAgo(300) })), {}],
    [
      'the machines were never Ready',
      fleet(4, 60).map((each) => ({ ...each, established: !each.faults })),
      {},
    ],
    ['their acts are in flight', fleet(4, 60), { ledger: { grants: grants(4, {}) } }],
    ['another policy selects them', fleet(4, 60), { spec: { mode: 'Audit' } }],
  ])('R21 opens no breaker for a version when %s', (_, all, given) => {
    expect(shown(review(all, given))).toEqual([]);
  });

  it('R21 opens once the acts on the machines are settled, and they are still faulty', () => {
    const settled = grants(4, { state: 'Settled', outcome: 'Failed', settledAt: ago(1) });
    expect(shown(review(fleet(4, 60), { ledger: { grants: settled } }))).toHaveLength(1);
  });

  it('R21 counts the fleet without young machines, whose version would dilute the share', () => {
    const young = named('young', 300, { dimensions: BAD, nodeCreatedAt: secondsAgo(300) });
    expect(shown(review([...fleet(4, 60), ...young]))).toEqual([
      `${ID} Open: 4 of 4 machines with fault Ready within 600 s have it, and 10 % of the fleet`,
    ]);
  });

  it('R21 compares the machines that its policy selects, and no others', () => {
    const gpu = { labels: { gpu: 'true' } };
    const others = machines(2000, { dimensions: GOOD });
    const selected = [
      ...named('gpu', 9, { ...gpu, dimensions: GOOD }),
      ...named('bad', 4, { ...gpu, dimensions: BAD, ...faultyFor(60) }),
      ...named('new', 7, { ...gpu, dimensions: BAD }),
    ];
    const all = [...others, ...selected];
    const nodeSelector = { all: false, matchLabels: gpu.labels };
    const scope = { nodeSelector, actions: [], risks: [], holders: [] };
    expect(shown(review(all, { spec: { scope } }))).toEqual([]);
    expect(shown(review(all))).toHaveLength(1);
  });

  it.each<[string, readonly MachineFacts[], LedgerBreaker, string]>([
    ['stays open while the count is faulty since it opened', fleet(3, 1000), OPEN, 'Open: e'],
    ['is half open when fewer are', fleet(2, 1000), OPEN, 'HalfOpen: e'],
    ['is half open when the faults are older than its cause', fleet(3, 1501), OPEN, 'HalfOpen: e'],
    ['stays open during its cooldown', fleet(0, 0), { ...OPEN, closesAt: ago(-1) }, 'Open: e'],
    ['waits for a person', fleet(0, 0), { ...OPEN, state: 'NeedsPerson' }, 'NeedsPerson: e'],
    ['is not opened again by old faults', fleet(4, 1000), { ...OPEN, state: 'HalfOpen' }, 'HalfOpen: e'],
    ['opens again by new faults', fleet(4, 60), { ...OPEN, state: 'HalfOpen' }, 'Open: 4 of 4'],
  ])('R18 a breaker by common cause %s', (_, all, state, text) => {
    const [line = ''] = shown(review(all, { ledger: { breakers: { [ID]: state } } }));
    expect(line).toContain(`${ID} ${text}`);
  });

  it('R21 opens no second breaker for what goes with the first, and one for another place', () => {
    const known = { breakers: { [ID]: { ...OPEN, closesAt: ago(-600) } } };
    expect(shown(review(fleet(6, 60), { ledger: known }))).toEqual([`${ID} Open: e`]);
    const inB = named('b', 3, { zone: 'b', dimensions: { ...GOOD, zone: 'b' }, ...faultyFor(60) });
    expect(
      shown(review([...fleet(6, 60), ...inB], { ledger: known })).map((line) => line.split(' ')[0]),
    ).toEqual([ID, 'fleet-default/cause/zone=b']);
  });
});

const DRIVER = breaker({ ...CAUSE, dimensions: ['zone', 'driverVersion'] });
const MINUTES = 60;

interface Story {
  readonly replaced: readonly string[];
  readonly notes: readonly string[];
}

/** 400 machines with GPUs, of which 84 have the bad driver: every 20 s one of them fails, and asks to be replaced two minutes later. */
function badDriver(without: ReadonlySet<string>): Story {
  const policies = [policy({ breakers: [DRIVER] })];
  const prepared = preparePolicies(policies);
  const index = createFleetIndex();
  index.setGroupings(prepared.groupings, () => false);
  for (const machine of [
    ...named('good', 316, { dimensions: { zone: 'a', driverVersion: '550.1' } }),
    ...named('bad', 84, { dimensions: { zone: 'a', driverVersion: '550.2' } }),
  ]) {
    index.put(machine);
  }
  const base = fleetFacts([], policies);
  const facts = { ...base, ...index };
  let ledger = ledgerSpec();
  const notes: string[] = [];
  for (let second = 0; second < MINUTES * 60; second += 10) {
    const now = new Date(+NOW + second * 1000);
    const failing = [
      ...(second % 20 === 0 ? [`bad-${second / 20 + 1}`] : []),
      ...(second === 1800 ? ['good-7'] : []),
    ].flatMap((name) => index.machine(name) ?? []);
    for (const machine of failing) {
      index.put({ ...machine, readiness: 'NotReady', faults: new Map([['Ready', now]]) });
    }
    const asks = [...index.faulty()]
      .filter(
        ({ name, faults }) => !(name in ledger.grants) && +now - +(faults?.get('Ready') ?? now) >= 120_000,
      )
      .map(({ name }) => ask({ machine: name, action: 'ReplaceMachine', risk: 'Machine', factsAt: now }));
    const { next = ledger } = planLedger({ ledger, policies: prepared, facts, now, epoch: 1, without }, [
      { kind: 'reviewBreakers' },
      // Its agent reports it started: the grants stay.
      ...asks.map((each) => ({ kind: 'ask', ask: { ...each, started: true } }) as const),
    ]);
    notes.push(...ledgerChanges(ledger, next).map(({ event }) => event.note));
    ledger = next;
  }
  return { replaced: Object.keys(ledger.grants), notes };
}

describe('a bad driver on 21 % of the machines with GPUs', () => {
  it('R21 costs at most two replacements and one incident that names the version, and others are replaced', () => {
    const { replaced, notes } = badDriver(new Set());
    expect(replaced.filter((name) => name.startsWith('bad')).length).toBeLessThanOrEqual(2);
    expect(replaced).toContain('good-7');
    expect(notes).toEqual([
      'breaker cause/driverVersion=550.2 opened: 6 of 6 machines with fault Ready within 600 s have it, and 21 % of the fleet',
    ]);
  });

  it('R21 costs every one of these machines without the guard', () => {
    expect(badDriver(new Set(['common-cause'])).replaced.length).toBeGreaterThan(80);
  });
});

const DETECTOR = breaker({
  ...CAUSE,
  dimensions: ['zone', 'detectorVersion', 'detectorConfig', 'componentVersion'],
});
const OLD_PROBE = { dimensions: { zone: 'a', detectorVersion: '0.9', detectorConfig: 'aaa' } };
const NEW_PROBE = { dimensions: { zone: 'a', detectorVersion: '0.9', detectorConfig: 'bbb' } };
const SUSPECT = 'fleet-default/cause/detectorConfig=bbb';

/** So many machines with the new configuration, of which some report the fault, and so many with the old one. */
function probed(bad: number, fresh: number, old: number, condition = 'GPUHealthy'): readonly MachineFacts[] {
  return [
    ...named('bad', bad, { ...NEW_PROBE, ...faultyFor(60, condition) }),
    ...named('fresh', fresh, NEW_PROBE),
    ...machines(old, OLD_PROBE),
  ];
}

function detectorReview(all: readonly MachineFacts[], ledger: Partial<DefenderLedgerSpec> = {}): string[] {
  return [...shown(review(all, { ledger, spec: { breakers: [DETECTOR] } }))];
}

describe('a detector that was changed', () => {
  it('R6 is named as suspect with its version, and how many machines report the fault with it and without', () => {
    expect(detectorReview(probed(12, 288, 700))).toEqual([
      `${SUSPECT} Open: the detector reports GPUHealthy on 12 of 300 machines that run it, and on 0 of 700 others`,
    ]);
  });

  it.each<[string, readonly MachineFacts[], number]>([
    ['also when most machines have it already', probed(60, 540, 400), 1],
    [
      'not when the others report the fault as often',
      [...probed(60, 540, 0), ...unwellOtherwise(38, 362)],
      0,
    ],
    ['not when nothing is left to compare with', probed(60, 540, 0), 0],
    ['not for the readiness, which the kubelet reports', probed(12, 288, 700, 'Ready'), 0],
    ['not for the pressure of a disk, which the kubelet reports', probed(12, 288, 700, 'DiskPressure'), 0],
    ['not for fewer machines than the count', probed(2, 298, 700), 0],
  ])('R6 is suspect of a fault %s', (_, all, breakers) => {
    expect(detectorReview(all)).toHaveLength(breakers);
  });

  it('R6 is not suspect any more once it was rolled back, whatever the kubelet reports since', () => {
    const breakers = { [SUSPECT]: { ...OPEN, evidence: 'e' } };
    expect(detectorReview(probed(12, 0, 700), { breakers })).toEqual([`${SUSPECT} Open: e`]);
    const back = probed(12, 0, 700).map((each) => ({ ...each, ...OLD_PROBE }));
    expect(detectorReview(back, { breakers })).toEqual([`${SUSPECT} HalfOpen: e`]);
    expect(detectorReview(probed(12, 0, 700, 'Ready'), { breakers })).toEqual([`${SUSPECT} HalfOpen: e`]);
  });

  it('R6 costs no more than three machines while a broken probe reaches 30 % of them in waves', () => {
    const { touched, opened } = brokenProbe(new Set());
    expect(touched.length).toBeLessThanOrEqual(3);
    expect(opened).toEqual([
      expect.stringContaining('breaker cause/detectorConfig=bbb opened: the detector'),
    ]);
  });

  it('R6 costs many of the machines without the guard of common causes', () => {
    expect(brokenProbe(new Set(['common-cause'])).touched.length).toBeGreaterThan(30);
  });
});

/** Machines with the old configuration, of which some report the fault for another reason. */
function unwellOtherwise(bad: number, good: number): readonly MachineFacts[] {
  return [
    ...named('other', bad, { ...OLD_PROBE, ...faultyFor(60, 'GPUHealthy') }),
    ...named('well', good, OLD_PROBE),
  ];
}

const WAVES = [1, 10, 100, 1000, 1889];

interface Spread {
  readonly touched: readonly string[];
  readonly opened: readonly string[];
}

/** Of 10,000 machines the first 3,000 get the probe in waves, one every 10 minutes. It reports a fault after two, which asks for a repair. */
function brokenProbe(without: ReadonlySet<string>): Spread {
  const policies = [policy({ breakers: [DETECTOR] })];
  const prepared = preparePolicies(policies);
  const index = createFleetIndex();
  index.setGroupings(prepared.groupings, () => false);
  for (const each of named('m', 10_000, OLD_PROBE)) index.put(each);
  const facts = { ...fleetFacts([], policies), ...index };
  let ledger = ledgerSpec();
  let reached = 0;
  const opened: string[] = [];
  for (const [wave, size] of WAVES.entries()) {
    const began = new Date(+NOW + wave * 600_000 + 120_000);
    const now = new Date(+began + 60_000);
    const names = Array.from({ length: size }, (_, number) => `m-${reached + number + 1}`);
    reached += size;
    for (const name of names) {
      index.put(machineFacts(name, { ...NEW_PROBE, faults: new Map([['GPUHealthy', began]]) }));
    }
    for (const machine of names.slice(0, 40)) {
      const { next = ledger } = planLedger({ ledger, policies: prepared, facts, now, epoch: 1, without }, [
        { kind: 'reviewBreakers' },
        { kind: 'ask', ask: { ...ask({ machine, risk: 'Node', factsAt: now }), started: true } },
      ]);
      opened.push(...ledgerChanges(ledger, next).map(({ event }) => event.note));
      ledger = next;
    }
  }
  return { touched: Object.keys(ledger.grants), opened };
}

function grants(count: number, fields: Partial<LedgerGrant>): Record<string, LedgerGrant> {
  const names = Array.from({ length: count }, (_, index) => `bad-${index + 1}`);
  return Object.fromEntries(names.map((name) => [name, entry(name, fields)]));
}
