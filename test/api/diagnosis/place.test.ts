import { describe, expect, it } from 'vitest';
import { peerPlace } from '../../../src/api/diagnosis/place.ts';
import { machine, node } from '../../support/builders.ts';

describe('peerPlace', () => {
  it('takes the zone of the Machine before that of its Node, and the rack from a label', () => {
    const labels = { 'topology.kubernetes.io/zone': 'b', 'topology.kubernetes.io/rack': 'r7' };
    const host = { ...node('m-1'), metadata: { name: 'm-1', labels } };
    expect(peerPlace(machine('m-1', { spec: { zone: 'a' } }), host)).toEqual({
      name: 'm-1',
      zone: 'a',
      rack: 'r7',
    });
    expect(peerPlace(machine('m-1'), undefined)).toEqual({
      name: 'm-1',
      zone: undefined,
      rack: undefined,
    });
  });
});
