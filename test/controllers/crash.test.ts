/** The process with the controllers of rules and of jobs crashes at each of its writes; the machine lives on, and another process takes over. */
import { describe, expect, it } from 'vitest';
import type { BedCrash } from '../support/controller/bed.ts';
import { faultRule, PERSON_RUNG, READY, REBOOT_RUNG } from '../support/faults/fault-rules.ts';
import { createRepairBed, type RepairBed } from '../support/faults/repair-bed.ts';
import { slice } from '../support/sweep-size.ts';

const TYPE = 'FrequentTaskHung';
const NOT_HUNG = {
  all: [
    ...READY.all,
    { fact: 'condition', params: { type: TYPE }, path: '$.status', operator: 'equal', value: 'False' },
  ],
};
const RUNG = { ...REBOOT_RUNG, verify: { conditions: NOT_HUNG, holdSeconds: 5, timeoutSeconds: 20 } };

interface CaseOfLadder {
  readonly ladder: readonly object[];
  /** Whether a reboot ends the fault. */
  readonly heals: boolean;
  readonly attempts: readonly string[];
  readonly reboots: number;
  readonly isCordoned: boolean;
}

const LADDERS: Readonly<Record<string, CaseOfLadder>> = {
  'that heals with its first rung': {
    ladder: [RUNG, PERSON_RUNG],
    heals: true,
    attempts: ['reboot 1 Succeeded'],
    reboots: 1,
    isCordoned: false,
  },
  'of two rungs that do not heal, and a person': {
    ladder: [RUNG, { ...RUNG, name: 'again' }, PERSON_RUNG],
    heals: false,
    attempts: ['reboot 1 Transient', 'again 1 Transient', 'person 1 HandedOff'],
    reboots: 2,
    isCordoned: true,
  },
};
/** Of one ladder with time to spare, retries after a crash included. */
const SECONDS = 120;
/** Of 70 crashes for each rung; `npm run test:long` takes all. */
const SLICE = 12;

async function play({ ladder, heals }: CaseOfLadder, crash?: BedCrash): Promise<RepairBed> {
  const bed = createRepairBed([faultRule(TYPE, { ladder })]);
  if (heals) bed.node.booted = () => bed.node.report(TYPE, 'False');
  bed.node.report(TYPE, 'False');
  const first = await bed.start(crash);
  await bed.live(5);
  bed.node.report(TYPE, 'True');
  await bed.live(SECONDS);
  if (crash === undefined) return bed;
  expect(first.crashed).toBe(true);
  await first.kill();
  await bed.start();
  await bed.live(SECONDS);
  return bed;
}

function endOf(bed: RepairBed): object {
  const spec = bed.node.object()?.['spec'] as { readonly unschedulable?: boolean };
  return {
    attempts: bed.attempts(),
    acts: bed.node.acts,
    isCordoned: spec.unschedulable === true,
    grants: [...bed.grants.open.keys()],
    finalizers: bed.jobs().flatMap(({ metadata }) => metadata.finalizers ?? []),
    repairs: bed.machine()?.status?.repairs?.total,
  };
}

/** The process writes as often as this without a crash. */
async function countWrites(ladder: CaseOfLadder): Promise<number> {
  const bed = await play(ladder);
  return bed.api.journal.length;
}

describe('rules and jobs whose process crashes', () => {
  it.each(Object.entries(LADDERS))(
    'R30 reboots no more often than without the crash, and ends the same, at each write of a ladder %s',
    async (_, ladder) => {
      const { attempts, reboots, isCordoned } = ladder;
      const expected = {
        attempts,
        acts: Array.from({ length: reboots }, () => 'Reboot'),
        isCordoned,
        grants: [],
        finalizers: [],
        // A hand-over to a person counts, too.
        repairs: attempts.length,
      };
      const writes = await countWrites(ladder);
      expect(writes).toBeGreaterThan(20);
      const crashes = Array.from({ length: writes }, (_each, index) => index + 1).flatMap((n) => [
        { n, when: 'before' as const },
        { n, when: 'after' as const },
      ]);
      const chosen = slice(crashes, SLICE);
      for (const crash of chosen) {
        // oxlint-disable-next-line no-await-in-loop -- one scenario after the other
        const bed = await play(ladder, crash);
        expect([crash, endOf(bed)]).toEqual([crash, expected]);
      }
    },
  );
});
