import { describe, expect, it } from 'vitest';
import { factsBed, reporting } from '../../live/facts-bed.ts';

const KUBELET = { name: 'kubelet' };
const IMAGEFS = { filesystem: 'imagefs' };
const PROBE = { name: 'hung-tasks' };

describe('facts that the agent reports', () => {
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
});
