import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type HostFlags,
  hostFlagsReason,
  machineNameReason,
} from '../../../../src/cli/commands/agent/start.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

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

it.each<[args: readonly string[], code: number, error: string]>([
  [['--directory', 'a-file'], 65, 'is not a directory'],
  [['--directory', 'a-file/below'], 65, 'no file can be created in'],
  [['--directory', '.'], 65, 'bootstrap file: it does not exist'],
  [['--directory', '.', '--context', 'prod'], 64, '--bootstrap excludes --kubeconfig and --context'],
])('agent run --bootstrap none.json %j fails with %i', async (args, code, error) => {
  const folder = tempFolder('agent');
  writeFileSync(join(folder, 'a-file'), '');
  const io = testIo();
  const paths = args.map((arg, index) => (args[index - 1] === '--directory' ? join(folder, arg) : arg));
  const run = ['agent', 'run', '--machine', 'n1', '--bootstrap', join(folder, 'none.json'), ...paths];
  expect(await runCommandLine(io, run)).toBe(code);
  expect(io.stderr).toContain(error);
});

it.each(['/proc/kubenode', '/proc'])(
  'agent run --directory %s fails instead of hanging',
  async (directory) => {
    const io = testIo();
    const run = ['agent', 'run', '--machine', 'n1', '--bootstrap', '/none.json', '--directory', directory];
    expect(await runCommandLine(io, run)).toBe(65);
    expect(io.stderr).toMatch(/--directory: no file can be created in \/proc.*: ENOENT/);
  },
);

it('makes every directory above that of the sandbox', async () => {
  const directory = join(tempFolder('agent'), 'a', 'b');
  const io = testIo();
  const run = ['agent', 'run', '--machine', 'n1', '--bootstrap', '/none.json', '--directory', directory];
  await runCommandLine(io, run);
  expect(io.stderr).toContain('bootstrap file: it does not exist');
});
