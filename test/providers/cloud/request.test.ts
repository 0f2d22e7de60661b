import { describe, expect, it } from 'vitest';
import { instanceShapeReason, throwIfRefused } from '../../../src/providers/cloud/request.ts';
import type { InstanceShape } from '../../../src/providers/contract.ts';
import { CLOUDS, PROVIDER_REGISTRY } from '../../../src/providers/registry.ts';
import { requestOf } from '../contract/harness.ts';

const EMPTY: InstanceShape = { config: {}, host: 'systemd' };

describe('instanceShapeReason', () => {
  it.each(CLOUDS)('refuses a config of %s that asks for no instance, or for another one', (name) => {
    const kind = PROVIDER_REGISTRY[name];
    expect(instanceShapeReason(kind, EMPTY)).toBe('spec.infra.config asks for no instance');
    expect(instanceShapeReason(kind, { ...EMPTY, config: { x: 1 } })).toContain('spec.infra.config');
  });
});

describe('throwIfRefused', () => {
  it.each(CLOUDS)('refuses what %s could not create, before any request', (name) => {
    const kind = PROVIDER_REGISTRY[name];
    expect(() => throwIfRefused(kind, requestOf(EMPTY))).toThrow('spec.infra.config asks for no instance');
    for (const machineUid of ['', '..', 'C0000000-0000-4000-8000-00000000000A']) {
      expect(() => throwIfRefused(kind, requestOf(EMPTY, { machineUid }))).toThrow(
        `not the UID of a Machine: ${JSON.stringify(machineUid)}`,
      );
    }
  });
});
