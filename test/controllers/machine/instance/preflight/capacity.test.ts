import { describe, expect, it } from 'vitest';
import {
  capacityKey,
  createCapacityGate,
} from '../../../../../src/controllers/machine/instance/preflight/capacity.ts';
import { ProviderError } from '../../../../../src/providers/contract.ts';

const ERROR = new ProviderError('Quota', 'no m7i.large in zone a');

function at(seconds: number): Date {
  return new Date(Date.UTC(2030, 0, 1, 12, 0, seconds));
}

describe('createCapacityGate', () => {
  it('MAC-35 lets every request through while nothing was refused', () => {
    const gate = createCapacityGate();
    expect([gate.take('k', 'a', at(0)), gate.take('k', 'b', at(0))]).toEqual([undefined, undefined]);
  });

  it('MAC-35 lets one machine ask again after a refusal, and the others only after its answer', () => {
    const gate = createCapacityGate();
    gate.refuse('k', { error: ERROR, until: at(10) });
    expect(gate.take('k', 'a', at(9))).toEqual({ error: ERROR, until: at(10) });
    expect(gate.take('k', 'a', at(10))).toBeUndefined();
    expect(gate.take('k', 'b', at(10))).toMatchObject({ error: ERROR, until: at(20) });
    expect([gate.take('k', 'a', at(11)), gate.take('k', 'b', at(19))]).toMatchObject([
      undefined,
      { error: ERROR },
    ]);
    gate.open('k');
    expect(gate.take('k', 'b', at(11))).toBeUndefined();
  });

  it('MAC-35 holds the machine that asked, too, when it is refused again', () => {
    const gate = createCapacityGate();
    gate.refuse('k', { error: ERROR, until: at(10) });
    gate.take('k', 'a', at(10));
    gate.refuse('k', { error: ERROR, until: at(20) });
    expect(gate.take('k', 'a', at(19))).toEqual({ error: ERROR, until: at(20) });
  });

  it('MAC-35 lets another machine ask when the one that was let through never answers', () => {
    const gate = createCapacityGate();
    gate.refuse('k', { error: ERROR, until: at(10) });
    gate.take('k', 'a', at(10));
    expect(gate.take('k', 'b', at(20))).toBeUndefined();
  });

  it('MAC-35 holds only those that want the same', () => {
    const gate = createCapacityGate();
    gate.refuse('k', { error: ERROR, until: at(10) });
    expect(gate.take('other', 'a', at(0))).toBeUndefined();
  });
});

describe('capacityKey', () => {
  const shape = { config: { instanceType: 'm7i.large', imageId: 'ami-1' }, host: 'systemd' } as const;

  it('is the same for the same config in any order of its fields', () => {
    const reversed = { ...shape, config: { imageId: 'ami-1', instanceType: 'm7i.large' } };
    expect(capacityKey('aws', reversed)).toBe(capacityKey('aws', shape));
  });

  it.each([
    ['provider', 'alibaba', shape],
    ['zone', 'aws', { ...shape, zone: 'a' }],
    ['config', 'aws', { ...shape, config: { ...shape.config, instanceType: 'm7i.xlarge' } }],
  ])('differs with another %s', (_, provider, other) => {
    expect(capacityKey(provider, other)).not.toBe(capacityKey('aws', shape));
  });
});
