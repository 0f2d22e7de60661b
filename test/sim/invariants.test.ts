import { describe, expect, it } from 'vitest';
import type { GrantAsk } from '../../src/api/grants.ts';
import { createFleet, type Hazard, type SimulatedMachine } from '../../src/sim/fleet.ts';
import { type Begun, brokenPromises, SIGHT_MS } from '../../src/sim/invariants.ts';

const NOON_MS = Date.parse('2030-01-10T12:00:00Z');
const EVENING_MS = Date.parse('2030-01-10T18:10:00Z');
const NEVER = Number.NEGATIVE_INFINITY;

interface Given {
  readonly nowMs?: number;
  readonly machine?: Partial<SimulatedMachine>;
  readonly ask?: Partial<GrantAsk>;
  readonly begun?: Partial<Begun>;
  readonly hazard?: Hazard;
}

describe('brokenPromises', () => {
  it.each<[string, Given, readonly string[]]>([
    ['an act in order', {}, []],
    ['the kill switch', { hazard: 'stopped' }, ['an act while stopped']],
    [
      'the kill switch, of risk None',
      { hazard: 'stopped', ask: { action: 'CleanDisk', risk: 'None' } },
      ['an act while stopped'],
    ],
    ['a freeze', { hazard: 'frozen' }, ['an act in a freeze']],
    ['a freeze, for risk Pod', { hazard: 'frozen', ask: { action: 'Drain', risk: 'Pod' } }, []],
    ['a quiet window', { nowMs: EVENING_MS }, ['an act in a quiet window']],
    ['midnight', { nowMs: Date.parse('2030-01-10T00:01:00Z') }, []],
    ['old facts', { ask: { factsAt: new Date(NOON_MS - SIGHT_MS - 1) } }, ['an act by old facts']],
    ['a risk below that of the act', { ask: { risk: 'Pod' } }, ['an act below its risk']],
    ['another Node', { ask: { nodeUID: '9' } }, ['an act on another Node']],
    ['a held machine', { machine: { isHeld: true } }, ['an act on a held machine']],
    ['a hold that is not visible yet', { machine: { isHeld: true, changedMs: NOON_MS } }, []],
    ['a second act', { machine: { act: { ask: { risk: 'None' } } as never } }, ['two acts on one machine']],
    ['a young node', { machine: { createdMs: NOON_MS - 600_000 } }, ['a repair of a young node']],
    ['a node that was created this minute', { machine: { createdMs: NOON_MS - 60_000 } }, []],
    [
      'a repeated repair',
      { machine: { repairs: [{ at: new Date(NOON_MS - 60_000), rebooted: true }] } },
      ['a repair too soon after the last'],
    ],
    ['too many in work', { begun: { inWork: 3 } }, ['4 machines in work, and 3 allowed']],
    [
      'too many reboots',
      { begun: { reboots: Array.from({ length: 5 }, () => NOON_MS) } },
      ['more reboots in an hour than allowed'],
    ],
    [
      'too many reboots after the counters began again',
      { begun: { reboots: Array.from({ length: 5 }, () => NOON_MS), lostMs: NOON_MS - 600_000 } },
      [],
    ],
    ['the probe after a storm', { begun: { stormAllowance: 1 } }, []],
    [
      'one act more than is verified after a storm',
      { begun: { stormAllowance: 0 } },
      ['more acts in a zone than it may begin after a storm'],
    ],
    ['a bad version', { begun: { isUnderCause: true } }, ['an act on a machine of a bad version']],
    [
      'a rule beyond its wave',
      { begun: { isBeyondFirstWave: true } },
      ['a rule on more machines than its wave permits'],
    ],
    ['an open breaker', { begun: { breakerOpenMs: NOON_MS - 60_000 } }, ['an act under an open breaker']],
    ['a recovery', { begun: { recoversMs: NOON_MS - 60_000 } }, ['an act while the ledger recovers']],
  ])('judges %s', (_, { nowMs = NOON_MS, machine: fields, ask: asked, begun, hazard }, promises) => {
    const fleet = createFleet(60, nowMs);
    if (hazard) fleet.hazards.set(hazard, { sinceMs: nowMs - SIGHT_MS - 1, untilMs: nowMs + 1 });
    const machine = Object.assign(fleet.machines[10] ?? {}, fields) as SimulatedMachine;
    const ask: GrantAsk = {
      holder: { kind: 'RemedyOperationJob', name: 'j', revision: 'r-1' },
      machine: machine.name,
      nodeUID: '1',
      action: 'Reboot',
      risk: 'Node',
      factsAt: new Date(nowMs),
      expectedSeconds: 60,
      ...asked,
    };
    const usual = {
      reboots: [],
      inWork: 0,
      lostMs: NEVER,
      recoversMs: NEVER,
      breakerOpenMs: NEVER,
      grants: 1,
      stormAllowance: Number.POSITIVE_INFINITY,
      isUnderCause: false,
      isBeyondFirstWave: false,
    };
    expect(brokenPromises({ fleet, machine, ask, ...usual, ...begun })).toEqual(promises);
  });
});
