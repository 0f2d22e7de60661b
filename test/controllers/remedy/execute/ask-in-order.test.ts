/** The shipped rule `maintenance` on machines of one zone, with the decisions of the Defender under a limit for the zone. */
import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import type { Machine, MachineRemedyWait } from '../../../../src/api/generated/types.ts';
import { createRemedyController } from '../../../../src/controllers/remedy/controller/controller.ts';
import { NODES } from '../../../../src/kube/objects/core-kinds.ts';
import { fleetFacts, ledgerSpec, machineFacts, policy } from '../../../defender/builders.ts';
import { NOW } from '../../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../../support/controller/bed.ts';
import { shippedMaintenanceRule } from '../../../support/faults/fault-rules.ts';
import { type LedgerGrants, ledgerGrants } from '../../../support/ledger-grants.ts';
import { type MemoryFacts, memoryFacts } from '../../../support/memory-facts.ts';
import { LONG } from '../../../support/sweep-size.ts';
import { bootedMachine, endJob, jobsOf, REMEDY_KINDS } from '../remedy-bed.ts';

const READY = { 'condition Ready': { status: 'True', observedSeconds: 9000 } };
const RETRY_MS = 31_000;

interface ZoneBed {
  readonly bed: ControllerBed;
  readonly facts: MemoryFacts;
  readonly grants: LedgerGrants;
  /** Announced: the machine may go down in this many seconds, and is due now. */
  readonly announce: (name: string, seconds?: number) => void;
  /** Machines with a job, in the order in which the jobs were created. */
  readonly taken: () => readonly string[];
  /** As the job controller does when the event of each is over. Resolves with how many were at work. */
  readonly endJobs: () => Promise<number>;
  readonly waitOf: (name: string) => MachineRemedyWait | undefined;
}

/** The order is the same in each wave. */
const NO_WAVES = { waves: [1000], soakSeconds: 0, minSuccessPercent: 0 };

/** Machines in zones: at most `max` of each zone may be out of service. */
async function zoneBed(zones: Readonly<Record<string, string>>, max: number): Promise<ZoneBed> {
  const names = Object.keys(zones);
  let clock = { now: () => NOW };
  const facts = memoryFacts(() => clock.now());
  for (const name of names) facts.set(name, { ...READY, maintenance: { pending: false } });
  const policies = [
    policy({
      ruleWaves: NO_WAVES,
      concurrency: [{ name: 'zone', per: 'Zone', actions: [], max }],
      counting: { include: ['InFlight'], lingerSeconds: 0, smallPool: { below: 0, max: 1 } },
    }),
  ];
  const grants = ledgerGrants({
    ledger: ledgerSpec({ ruleTerms: { inForce: NO_WAVES } }),
    policies,
    clock: { now: () => clock.now() },
    facts: () => {
      const all = names.map((name) => machineFacts(name, { zone: zones[name] ?? '', nodeUID: uidOf(name) }));
      return fleetFacts(all, policies);
    },
  });
  const controllers = [createRemedyController({ facts, grants })];
  const objects = [shippedMaintenanceRule(), ...names.flatMap(bootedMachine)];
  const bed = createControllerBed({ kinds: REMEDY_KINDS, objects, controllers });
  ({ clock } = bed);
  const created: string[] = [];
  const ended = new Set<string>();
  await bed.start();
  await bed.advance(3000);
  return {
    bed,
    facts,
    grants,
    announce: (name, seconds) => {
      const due = { pending: true, type: 'Reboot', state: 'Scheduled', hint: false, secondsUntilAct: 0 };
      const starts = seconds === undefined ? {} : { secondsUntilNotBefore: seconds };
      facts.set(name, { ...READY, maintenance: { ...due, ...starts } });
    },
    taken: () => {
      created.push(
        ...bed
          .writes()
          .flatMap((write) => /^create RemedyOperationJob (m-\d+)-maintenance/.exec(write)?.[1] ?? []),
      );
      return created;
    },
    endJobs: async () => {
      const atWork = jobsOf(bed).filter(({ metadata }) => !ended.has(metadata.name));
      for (const job of atWork) {
        ended.add(job.metadata.name);
        await endJob(bed, grants, job, 'Succeeded');
        facts.set(job.spec.machine.name, { ...READY, maintenance: { pending: false } });
      }
      return atWork.length;
    },
    waitOf: (name) => bed.get<Machine>(MACHINES, name)?.status?.remedyWaits?.[0],
  };

  function uidOf(name: string): string {
    return bed.get(NODES, name)?.metadata.uid ?? '';
  }
}

function inZone(count: number, zone = 'a'): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`m-${index}`, zone]));
}

describe('the turn of a machine', () => {
  it('R39 empties the machines of one zone within its limit, in the order of their announced times', async () => {
    const [count, max] = [LONG ? 300 : 100, 20];
    const { bed, announce, taken, endJobs } = await zoneBed(inZone(count), max);
    // A step that shares no divisor with the count: an order that is neither that of the names nor its reverse.
    const secondsOf = (index: number): number => 7200 + ((index * 77 + 150) % count) * 60;
    const byTime = [...Array(count).keys()].toSorted((a, b) => secondsOf(a) - secondsOf(b));
    for (let index = 0; index < count; index += 1) announce(`m-${index}`, secondsOf(index));
    const atWork: number[] = [];
    while (taken().length < count && atWork.length < count) {
      await bed.advance(RETRY_MS);
      atWork.push(await endJobs());
    }
    expect(Math.max(...atWork)).toBe(max);
    // Those of one round begin together.
    const rounds = (names: readonly string[]): readonly (readonly string[])[] =>
      Array.from({ length: count / max }, (_, round) =>
        names.slice(round * max, (round + 1) * max).toSorted(),
      );
    expect(rounds(taken())).toEqual(rounds(byTime.map((index) => `m-${index}`)));
  });

  it('R39 asks for the earliest one first when machines become due at the same moment', async () => {
    const { bed, announce, taken } = await zoneBed(inZone(5), 1);
    for (const [index, seconds] of [900, 600, 300, 700, 800].entries()) announce(`m-${index}`, seconds);
    await bed.advance(RETRY_MS);
    expect(taken()).toEqual(['m-2']);
  });

  it('R39 has one that may go down at any moment before all that have a time', async () => {
    const { bed, announce, taken, endJobs } = await zoneBed(inZone(3), 1);
    announce('m-0', 300);
    announce('m-1', 600);
    await bed.advance(RETRY_MS);
    announce('m-2');
    await endJobs();
    await bed.advance(2 * RETRY_MS);
    expect(taken()).toEqual(['m-0', 'm-2']);
  });

  it('gives every free place away at once, and keeps the reason of the Defender while others go first', async () => {
    const { bed, announce, taken, endJobs, waitOf } = await zoneBed(inZone(6), 2);
    for (let index = 0; index < 6; index += 1) announce(`m-${index}`, 6000 - index);
    await bed.advance(3000);
    expect(taken().toSorted()).toEqual(['m-4', 'm-5']);
    await bed.advance(RETRY_MS);
    const before = waitOf('m-0');
    expect([before?.reason, waitOf('m-3')?.reason]).toEqual(['ConcurrencyZone', 'ConcurrencyZone']);
    await endJobs();
    await bed.advance(RETRY_MS);
    expect(taken().slice(2).toSorted()).toEqual(['m-2', 'm-3']);
    expect(waitOf('m-0')).toEqual(before);
  });

  it('holds up no machine of a zone that has room', async () => {
    const { bed, announce, taken } = await zoneBed({ ...inZone(3), 'm-3': 'b' }, 1);
    for (let index = 0; index < 4; index += 1) announce(`m-${index}`, 600 + index);
    await bed.advance(RETRY_MS);
    expect(taken().toSorted()).toEqual(['m-0', 'm-3']);
  });

  it('passes over a machine that is first and does not ask, and takes it when it does', async () => {
    const { bed, facts, announce, taken, endJobs } = await zoneBed(inZone(3), 1);
    for (let index = 0; index < 3; index += 1) announce(`m-${index}`, 600 + index);
    await bed.advance(RETRY_MS);
    expect(taken()).toEqual(['m-0']);
    // Its facts cannot be read in time any more, but nothing tells the controller that they have changed.
    let isStuck = true;
    facts.reading = (name) => {
      if (isStuck && name === 'm-1') throw new Error('stuck');
    };
    await endJobs();
    await bed.advance(3 * RETRY_MS);
    expect(taken()).toEqual(['m-0', 'm-2']);
    isStuck = false;
    await endJobs();
    await bed.advance(21 * RETRY_MS);
    expect(taken()).toEqual(['m-0', 'm-2', 'm-1']);
  });

  it('R39 passes over a machine that is first when each ask for it fails', async () => {
    const { bed, grants, announce, taken, endJobs } = await zoneBed(inZone(3), 1);
    for (let index = 0; index < 3; index += 1) announce(`m-${index}`);
    await bed.advance(RETRY_MS);
    expect(taken()).toEqual(['m-0']);
    const { ask } = grants;
    const failing: typeof ask = async (asks) => {
      if (asks.some(({ machine: name }) => name === 'm-1')) throw new Error('the ask failed');
      return await ask(asks);
    };
    Object.assign(grants, { ask: failing });
    await endJobs();
    await bed.advance(4 * RETRY_MS);
    expect(taken()).toEqual(['m-0', 'm-2']);
  });

  it('is forgotten with the machine, and when its event is over', async () => {
    const { bed, facts, announce, taken, endJobs } = await zoneBed(inZone(4), 1);
    for (let index = 0; index < 4; index += 1) announce(`m-${index}`, 600 + index);
    await bed.advance(RETRY_MS);
    bed.delete(MACHINES, 'm-1');
    facts.set('m-2', { ...READY, maintenance: { pending: false } });
    await endJobs();
    await bed.advance(RETRY_MS);
    expect(taken()).toEqual(['m-0', 'm-3']);
  });
});
