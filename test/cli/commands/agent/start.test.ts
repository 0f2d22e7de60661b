import { expect, it } from 'vitest';
import {
  type HostFlags,
  hostFlagsReason,
  machineNameReason,
} from '../../../../src/cli/commands/agent/start.ts';

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

it.each(['n1', 'rack-4.n1'])('--machine %s is a name', (machine) => {
  expect(machineNameReason(machine)).toBeUndefined();
});

it.each(['N_1', ''])('--machine %j is refused', (machine) => {
  expect(machineNameReason(machine)).toMatch(/^--machine: expected lower-case letters.*, got "/);
});
