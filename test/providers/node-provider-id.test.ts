import { describe, expect, it } from 'vitest';
import { isOnInstance } from '../../src/providers/node-provider-id.ts';

const VM = '/subscriptions/s/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/vm-1';

describe('isOnInstance', () => {
  it.each<[instance: string, node: string, want: boolean]>([
    ['alibaba://cn-hangzhou.i-bp1', 'cn-hangzhou.i-bp1', true],
    ['alibaba://cn-hangzhou.i-bp1', 'alicloud://cn-hangzhou.i-bp1', true],
    ['alibaba://cn-hangzhou.i-bp1', 'alibaba://cn-hangzhou.i-bp1', true],
    ['alibaba://cn-hangzhou.i-bp1', 'cn-hangzhou.i-bp2', false],
    ['alibaba://cn-hangzhou.i-bp1', 'cn-beijing.i-bp1', false],
    ['alibaba://cn-hangzhou.i-bp1', 'aws:///cn-hangzhou.i-bp1', false],
    ['aws:///eu-central-1a/i-1', 'aws:///eu-central-1a/i-1', true],
    ['aws:///eu-central-1a/i-1', 'aws:///eu-central-1b/i-1', false],
    [`azure://${VM}`, `azure://${VM.replace('RG', 'rg')}`, true],
    [`azure://${VM}`, `azure://${VM}2`, false],
    ['local:///A', 'local:///a', false],
  ])('compares %s with %s: %s', (instance, node, want) => {
    expect(isOnInstance(instance, node)).toBe(want);
  });
});
