import { expect, it } from 'vitest';
import { type HostFlags, hostFlagsReason } from '../../../../src/cli/commands/agent/start.ts';

it.each<[flags: HostFlags, expected: string | undefined]>([
  [{ host: 'sandbox', directory: '/tmp/n1' }, undefined],
  [{ host: 'systemd' }, undefined],
  [{ host: 'sandbox' }, '--host sandbox needs --directory <folder>'],
  [
    { host: 'systemd', directory: '/tmp/n1' },
    '--directory is for --host sandbox: systemd has one root directory',
  ],
])('%j: %s', (flags, expected) => {
  expect(hostFlagsReason(flags)).toBe(expected);
});
