import { describe, expect, it } from 'vitest';
import { foreignOwner } from '../../../src/defender/facts/foreign.ts';
import { machineFacts } from '../builders.ts';

describe('foreignOwner', () => {
  it.each([
    ['a taint', { taints: ['karpenter.sh/disrupted'] }, 'taint karpenter.sh/disrupted'],
    [
      'a label',
      { labels: { 'dgxc.nvidia.com/nvsentinel-state': 'x' } },
      'label dgxc.nvidia.com/nvsentinel-state',
    ],
    ['a Lease of its node', { foreignLeases: ['medik8s/node-m-1'] }, 'lease medik8s/node-m-1'],
    ['the Lease of another node', { foreignLeases: ['medik8s/node-m-2'] }, undefined],
    ['no sign', {}, undefined],
  ])('R23 recognizes another owner of a machine by %s', (_, facts, owner) => {
    const signs = [
      { taint: 'karpenter.sh/disrupted' },
      { label: 'dgxc.nvidia.com/nvsentinel-state' },
      { lease: 'medik8s/node-{node}' },
    ];
    expect(foreignOwner(machineFacts('m-1', facts), signs)).toBe(owner);
  });
});
