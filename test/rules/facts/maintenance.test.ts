import { describe, expect, it } from 'vitest';
import type { MaintenanceEvent } from '../../../src/api/generated/types.ts';
import { ago } from '../../support/builders.ts';
import { type EventParts, maintenanceEvent } from '../../support/maintenance.ts';
import { type FactsBed, factsBed } from '../live/facts-bed.ts';
import { ruleOf } from '../live/rules-bed.ts';

type Flags = Readonly<Record<string, 'True' | 'False'>>;

/** Of machine `n`, matched, and to be prepared in half an hour. */
function announced({ name = 'e', ...parts }: EventParts = {}, flags: Flags = {}): MaintenanceEvent {
  const conditions = Object.entries({ Matched: 'True' as const, Settled: 'False' as const, ...flags }).map(
    ([type, status]) => ({ type, status, reason: 'Test', message: '', lastTransitionTime: ago(60) }),
  );
  return maintenanceEvent({
    machine: 'n',
    name,
    status: { observedGeneration: 1, actAt: ago(-1800), conditions },
    ...parts,
  });
}

function bedWith(...events: readonly MaintenanceEvent[]): FactsBed {
  const bed = factsBed();
  bed.machine();
  for (const event of events) bed.put('maintenance', event);
  return bed;
}

const NOT_PENDING = { pending: false };

describe('the fact maintenance', () => {
  it('R39 knows the type, the state and the times of an event that is announced', () => {
    expect(bedWith(announced()).read('maintenance')).toEqual({
      pending: true,
      type: 'Reboot',
      state: 'Scheduled',
      hint: false,
      secondsUntilNotBefore: 3600,
      secondsUntilAct: 1800,
    });
  });

  it('R39 knows that nothing is pending without an event of this machine', () => {
    expect(bedWith().read('maintenance')).toEqual(NOT_PENDING);
    expect(bedWith(announced({ machine: 'other' })).read('maintenance')).toEqual(NOT_PENDING);
  });

  it.each<readonly [string, MaintenanceEvent]>([
    ['has no time to act yet', announced({ status: { conditions: [] } })],
    ['nobody has looked at yet', maintenanceEvent({ machine: 'n' })],
    ['is about another machine of this name', announced({}, { Matched: 'False' })],
    ['made an impossible change of state', announced({}, { Inconsistent: 'True' })],
    ['is settled', announced({}, { Settled: 'True' })],
    ['is done', announced({ state: 'Done' })],
    ['is cancelled', announced({ state: 'Cancelled' })],
    ['is avoided', announced({ state: 'Avoided' })],
    ['has failed', announced({ state: 'Failed' })],
    ['is a hint whose time is over', announced({ hint: true, ttlSeconds: 60 })],
  ])('R39 takes an event that %s for no reason to act', (_, event) => {
    expect(bedWith(event).read('maintenance')).toEqual(NOT_PENDING);
  });

  it.each<readonly [string, readonly EventParts[], string]>([
    [
      'the earliest',
      [
        { name: 'a', notBefore: ago(-200) },
        { name: 'b', type: 'Stop', notBefore: ago(-100) },
      ],
      'Stop',
    ],
    ['the first by name', [{ name: 'b' }, { name: 'a', type: 'Stop' }], 'Stop'],
    [
      'one that may begin at any moment',
      [{ name: 'a' }, { name: 'b', type: 'Stop', notBefore: undefined }],
      'Stop',
    ],
    [
      'no hint before an outage',
      [{ name: 'a', hint: true, ttlSeconds: 600, type: 'Stop', notBefore: ago(-9) }, { name: 'b' }],
      'Reboot',
    ],
    [
      'no inquiry before an outage',
      [{ name: 'a', state: 'Inquiring', type: 'Stop', notBefore: ago(-9) }, { name: 'b' }],
      'Reboot',
    ],
    [
      'no fault before an outage',
      [{ name: 'a', type: 'DiskFault', notBefore: ago(-9) }, { name: 'b' }],
      'Reboot',
    ],
  ] as readonly (readonly [string, readonly EventParts[], string])[])(
    'R39 reads of several events %s',
    (_, parts, type) => {
      const bed = bedWith(...parts.map((each) => announced(each)));
      expect(bed.read('maintenance')['type']).toBe(type);
    },
  );

  it('R39 is unknown from a change of an event until its controller has judged the change, and known of one that is over', () => {
    const metadata = { generation: 2 };
    const bed = bedWith(announced({ metadata, state: 'Executing' }));
    expect(bed.read('maintenance')).toEqual({});
    expect(bed.why('maintenance')).toBe('the change of MaintenanceEvent e is not processed yet');
    expect(bedWith(announced({ metadata, state: 'Cancelled' })).read('maintenance')).toEqual(NOT_PENDING);
  });

  it('R39 is unknown while the API server does not answer about events', () => {
    const bed = bedWith(announced());
    bed.silence('maintenance', 600_000);
    expect(bed.read('maintenance')).toEqual({});
    expect(bed.why('maintenance')).toContain('MaintenanceEvents');
    bed.silence('maintenance', undefined);
    expect(bed.read('maintenance')['pending']).toBe(true);
  });

  it('R39 makes its rules due at the very moment to act, and at the end of a hint', async () => {
    const due = ruleOf([
      { fact: 'maintenance', path: '$.secondsUntilAct', operator: 'lessThanInclusive', value: 0 },
    ]);
    const bed = bedWith(announced());
    expect(bed.live().dueInMs('n', due)).toBe(1_800_001);
    await bed.clock.advance(1_800_001);
    expect(bed.read('maintenance')['secondsUntilAct']).toBeLessThanOrEqual(0);
    expect(bed.live().dueInMs('n', due)).toBe(Infinity);
    const hint = bedWith(announced({ hint: true, ttlSeconds: 90 }));
    expect(hint.live().dueInMs('n', due)).toBe(30_001);
    await hint.clock.advance(30_001);
    expect(hint.read('maintenance')).toEqual(NOT_PENDING);
  });

  it('R39 reports every change of an event to the rules that read it', () => {
    const bed = bedWith();
    bed.changes.length = 0;
    const event = announced();
    bed.put('maintenance', event);
    bed.put('maintenance', announced({ state: 'Executing' }));
    bed.remove('maintenance', event);
    expect(bed.changes).toEqual(Array.from({ length: 3 }, () => ({ machine: 'n', topics: ['maintenance'] })));
    expect(bed.read('maintenance')).toEqual(NOT_PENDING);
  });
});
