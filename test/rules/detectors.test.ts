import { describe, expect, it } from 'vitest';
import { detectorBehavior } from '../../src/rules/detectors.ts';

describe('detectorBehavior', () => {
  it.each([
    ['Ready', 'SelfClearing'],
    ['FrequentTaskHung', 'SelfClearing'],
    ['AgentReady', 'SelfClearing'],
    ['ReadonlyFilesystem', 'Latched'],
    ['KernelDeadlock', 'Latched'],
    ['InventedByAScript', 'Latched'],
  ] as const)('R3 takes condition %s for one whose detector is %s', (type, behavior) => {
    expect(detectorBehavior(type)).toBe(behavior);
  });
});
