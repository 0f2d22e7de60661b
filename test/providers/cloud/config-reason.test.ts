import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cloudConfigReason } from '../../../src/providers/cloud/config-reason.ts';

const SCHEMA = z.strictObject({
  size: z.string(),
  disks: z.array(z.strictObject({ gib: z.number() })).optional(),
});
const GOOD = { config: { size: 'm' }, host: 'systemd' } as const;

describe('cloudConfigReason', () => {
  it.each([
    ['an empty config, which asks for no instance', { ...GOOD, config: {}, host: 'sandbox' as const }],
    ['a good one', GOOD],
    ['a zone', { ...GOOD, zone: 'a'.repeat(63) }],
  ])('accepts %s', (_, shape) => {
    expect(cloudConfigReason('aws', SCHEMA, shape)).toBeUndefined();
  });

  it.each([
    ['a field of another kind', { ...GOOD, config: { size: 5 } }, 'spec.infra.config.size: '],
    ['an unknown field', { ...GOOD, config: { size: 'm', sice: 'm' } }, '"sice"'],
    [
      'a field in a list',
      { ...GOOD, config: { size: 'm', disks: [{ gib: 'x' }] } },
      'spec.infra.config.disks[0].gib: ',
    ],
    ['a sandbox', { ...GOOD, host: 'sandbox' as const }, 'spec.host.type: expected systemd for provider aws'],
    ['a long zone', { ...GOOD, zone: 'a'.repeat(64) }, 'spec.zone: '],
  ])('names %s', (_, shape, expected) => {
    expect(cloudConfigReason('aws', SCHEMA, shape)).toContain(expected);
  });
});
