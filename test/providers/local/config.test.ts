import { describe, expect, it } from 'vitest';
import type { InstanceShape } from '../../../src/providers/contract.ts';
import { LOCAL, localConfigReason, localInstanceType } from '../../../src/providers/local/config.ts';

const TYPE = 'spec.infra.config.type: expected sandbox or simulated, got';

describe('localConfigReason', () => {
  it.each<[name: string, config: InstanceShape['config'], reason: string | undefined, host?: 'systemd']>([
    ['a sandbox', { type: 'sandbox' }, undefined],
    ['a simulated machine', { type: 'simulated' }, undefined],
    ['a host that joins by itself', {}, undefined],
    ['a host with systemd that joins by itself', {}, undefined, 'systemd'],
    ['another type', { type: 'vm' }, `${TYPE} "vm"`],
    ['a type that is not a text', { type: [] }, `${TYPE} []`],
    ['an unknown field', { size: 'm' }, 'spec.infra.config: unknown field "size"'],
    [
      'a host with systemd',
      { type: 'sandbox' },
      'spec.host.type: expected sandbox for provider local, got systemd',
      'systemd',
    ],
  ])('gives the reason for %s', (_, config, reason, host) => {
    expect(localConfigReason({ config, host: host ?? 'sandbox' })).toBe(reason);
  });

  it('limits a zone to what a label may be', () => {
    const shape = { config: { type: 'sandbox' }, host: 'sandbox' } as const;
    expect(localConfigReason({ ...shape, zone: 'z'.repeat(63) })).toBeUndefined();
    expect(localConfigReason({ ...shape, zone: 'z'.repeat(64) })).toContain('spec.zone');
  });
});

describe('localInstanceType', () => {
  it('is that of the config, or none', () => {
    const types = [{ type: 'simulated' }, { type: 'vm' }, {}].map((config) =>
      localInstanceType({ config, host: 'sandbox' }),
    );
    expect(types).toEqual(['simulated', undefined, undefined]);
  });
});

describe('the kind of provider local', () => {
  it('MAC-35 has the platform of this machine for a sandbox, and none for what downloads nothing', () => {
    const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
    expect(LOCAL.platformOf?.({ config: { type: 'sandbox' }, host: 'sandbox' })).toEqual({
      os: process.platform,
      arch,
    });
    expect(LOCAL.platformOf?.({ config: { type: 'simulated' }, host: 'sandbox' })).toBeUndefined();
  });

  it('has an instance for every config, so that a wrong one is not taken for a host that joins by itself', () => {
    const configs = [{}, { type: 'sandbox' }, { size: 'm' }];
    expect(configs.map((config) => LOCAL.hasInstance({ config, host: 'sandbox' }))).toEqual([
      false,
      true,
      true,
    ]);
  });
});
