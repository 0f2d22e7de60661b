import { describe, expect, it } from 'vitest';
import { anyReplica, createRun, liveGrant } from '../../src/sim/run.ts';

describe('createRun', () => {
  it('has three replicas over one ledger that is new', async () => {
    const run = createRun({ seed: 1, days: 1, machines: 9 });
    expect(run.replicas.length).toBe(3);
    expect(run.ledger.spec()).toMatchObject({ seq: 0, grants: {} });
    expect(await anyReplica(run).run([{ kind: 'sweep' }])).toEqual([{ kind: 'done' }]);
    expect(run.fleet.machines.flatMap(liveGrant)).toEqual([]);
  });
});
