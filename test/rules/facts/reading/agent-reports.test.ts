import { describe, expect, it } from 'vitest';
import type { MachineStatus } from '../../../../src/api/generated/types.ts';
import { ago } from '../../../support/builders.ts';
import { type FactsBed, factsBed, lying } from '../../live/facts-bed.ts';

const KUBELET = { name: 'kubelet' };
const IMAGEFS = { filesystem: 'imagefs' };
const PROBE = { name: 'hung-tasks' };

function reporting(status: Partial<MachineStatus>): FactsBed {
  const bed = factsBed();
  bed.machine({ status });
  bed.heartbeat();
  return bed;
}

describe('facts that the agent reports', () => {
  it('has state, version and failures of a component', async () => {
    const bed = reporting({
      components: [{ name: 'kubelet', state: 'Committed', currentRef: 'kubelet-1.34.2', ready: true }],
    });
    bed.component('kubelet-1.34.2', '1.34.2');
    expect(bed.read('component', KUBELET)).toEqual({
      state: 'Committed',
      version: '1.34.2',
      ready: true,
      restartsPerHour: 0,
      failedSeconds: 0,
    });
    bed.machine({
      status: { components: [{ name: 'kubelet', state: 'Committed', ready: false, restarts: 2 }] },
    });
    await bed.clock.advance(20_000);
    expect(bed.read('component', KUBELET)).toEqual({
      state: 'Committed',
      ready: false,
      restartsPerHour: 2,
      failedSeconds: 20,
    });
  });

  it('R1 does not know the restarts of an hour that it did not observe', async () => {
    const bed = reporting({ components: [{ name: 'kubelet', restarts: 7 }] });
    expect(bed.read('component', KUBELET)).not.toHaveProperty('restartsPerHour');
    await bed.clock.advance(3_600_000);
    bed.heartbeat();
    expect(bed.read('component', KUBELET)['restartsPerHour']).toBe(0);
  });

  it('has the usage of a file system, and for how long it rises', () => {
    const disk = [
      { filesystem: 'imagefs', usedPercent: 91, risingSince: ago(300) },
      { filesystem: 'nodefs' },
    ];
    const bed = reporting({ facts: { disk } });
    expect(bed.read('disk', IMAGEFS)).toEqual({ usedPercent: 91, risingSeconds: 300 });
    expect(bed.read('disk', { filesystem: 'nodefs' })).toEqual({ risingSeconds: 0 });
  });

  it('has the result of a probe and its age; Unknown is neither Pass nor Fail', () => {
    const bed = reporting({
      facts: {
        probes: [
          { name: 'hung-tasks', result: 'Fail', at: ago(20) },
          { name: 'dns', result: 'Unknown', at: ago(20) },
        ],
      },
    });
    expect(bed.read('probe', PROBE)).toEqual({ result: 'Fail', ageSeconds: 20 });
    expect(bed.read('probe', { name: 'dns' })).toEqual({ ageSeconds: 20 });
  });

  it.each([
    ['component', KUBELET, 'the agent does not report component kubelet'],
    ['disk', IMAGEFS, 'the agent does not report file system imagefs'],
    ['probe', PROBE, 'the agent does not report probe hung-tasks'],
  ] as const)('R1 does not know a %s that is not reported', (fact, params, reason) => {
    const bed = reporting({ components: [] });
    expect(bed.read(fact, params)).toEqual({});
    expect(bed.why(fact, params)).toBe(reason);
  });

  it('R4 knows them for three heartbeats of the agent', async () => {
    const bed = reporting({ facts: { disk: [{ filesystem: 'imagefs', usedPercent: 91 }] } });
    await bed.clock.advance(30_000);
    expect(bed.read('disk', IMAGEFS)['usedPercent']).toBe(91);
    await bed.clock.advance(1000);
    expect(bed.why('disk', IMAGEFS)).toBe('nothing heard of the agent for 31 s');
    bed.heartbeat();
    expect(bed.read('disk', IMAGEFS)['usedPercent']).toBe(91);
  });

  it('R4 does not know them without a Lease of the agent, or while Leases cannot be watched', () => {
    const bed = factsBed();
    bed.machine({ status: { facts: { disk: [{ filesystem: 'imagefs', usedPercent: 91 }] } } });
    expect(bed.why('disk', IMAGEFS)).toBe('nothing heard of the agent yet');
    bed.heartbeat();
    bed.silence('agentLeases', 400_000);
    expect(bed.why('disk', IMAGEFS)).toBe('Leases of agents: no contact with the API server for 400 s');
  });

  it.each<readonly [name: string, facts: unknown]>([
    ['no list', { disk: 'imagefs' }],
    ['a list of other things', { disk: [null, 'imagefs', 4, { filesystem: 5 }] }],
    ['more than 100 percent', { disk: [{ filesystem: 'imagefs', usedPercent: 900 }] }],
    ['a number as a string', { disk: [{ filesystem: 'imagefs', usedPercent: '91' }] }],
  ])('R1 does not know the usage of a report that is %s', (_, facts) => {
    const bed = reporting({ facts: lying(facts) });
    expect(bed.read('disk', IMAGEFS)).not.toHaveProperty('usedPercent');
  });
});
