import { describe, expect, it } from 'vitest';
import { planExpiry } from '../../../src/defender/controller/plan.ts';
import type { MachineFacts } from '../../../src/defender/facts/facts.ts';
import type { HolderState } from '../../../src/defender/facts/holder-state.ts';
import { ago, entry, ledgerSpec, machineFacts, NOW } from '../builders.ts';

type Readiness = MachineFacts['readiness'] | undefined;

const SETTLES = 'settle g-m-1: MachineComponentSet base ended, and the state of machine m-1 is known';

describe('planExpiry', () => {
  it.each<[string, HolderState, Readiness, number, string]>([
    ['a grant in time', 'NotFound', 'Ready', -60, ''],
    [
      'a grant whose holder works',
      'Active',
      'Ready',
      60,
      'wait: MachineComponentSet base: it is still active',
    ],
    [
      'a grant whose holder was not read',
      'Unknown',
      'Ready',
      60,
      'wait: MachineComponentSet base: its state is unknown',
    ],
    [
      'a grant on a silent machine',
      'Ended',
      'Unknown',
      60,
      'wait: MachineComponentSet base: the state of its machine is unknown',
    ],
    [
      'a grant that waits for long',
      'Ended',
      'Unknown',
      601,
      'alert: MachineComponentSet base: the state of its machine is unknown',
    ],
    ['a grant whose holder ended', 'Ended', 'NotReady', 60, SETTLES],
    ['a grant whose holder was deleted, with its machine', 'NotFound', undefined, 9999, SETTLES],
  ])('R13 settles by what is known: %s', (...[, holder, readiness, seconds, plan]) => {
    const found = planExpiry({
      ledger: ledgerSpec({ grants: { 'm-1': entry('m-1', { notAfter: ago(seconds) }) } }),
      holder: () => holder,
      machine: () => readiness && machineFacts('m-1', { readiness }),
      now: NOW,
    });
    const lines = found.map(({ settlement, because, isAlert }) => {
      if (settlement) return `settle ${settlement.id}: ${because}`;
      return `${isAlert ? 'alert' : 'wait'}: ${because}`;
    });
    expect(lines.join('\n')).toBe(plan);
  });
});
