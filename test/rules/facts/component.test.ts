import { describe, expect, it } from 'vitest';
import { reporting } from '../live/facts-bed.ts';

const KUBELET = { name: 'kubelet' };

describe('the fact component', () => {
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
});
