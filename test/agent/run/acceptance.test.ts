import { expect, it } from 'vitest';
import { HostError } from '../../../src/agent/host/errors.ts';
import { createMemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { HostFiles } from '../../../src/agent/host/port.ts';
import { DESIRED_FILE } from '../../../src/agent/layout.ts';
import { openAcceptance, requireOwnHost } from '../../../src/agent/run/acceptance.ts';
import { writeStateFile } from '../../../src/agent/state-file.ts';
import { machine } from '../../support/builders.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

it('works on no host of another Machine', async () => {
  const { files } = createMemoryHost({ clock: virtualClock(), artifacts: new Map() });
  await expect(requireOwnHost(files, 'n9')).resolves.toBeUndefined();
  await writeStateFile(files, DESIRED_FILE, { name: 'n1' });
  await expect(requireOwnHost(files, 'n1')).resolves.toBeUndefined();
  await expect(requireOwnHost(files, 'n9')).rejects.toMatchObject({
    code: 'BadInput',
    message: 'this host belongs to Machine n1, not to n9',
  });
});

it('tells why it keeps to the state before when the disk is full, until there is space', async () => {
  const files: HostFiles = createMemoryHost({ clock: virtualClock(), artifacts: new Map() }).files;
  let isFull = true;
  const write: typeof files.write = async (...args) => {
    if (isFull) throw new HostError('DiskFull', 'the disk is full: desired.json could not be written');
    await files.write(...args);
  };
  const failing = { ...files, read: files.read.bind(files), write };
  const declared = machine('n1', { spec: { components: [] } });
  const keeper = await openAcceptance(failing, { machine: () => declared, component: async () => undefined });
  await expect(keeper.refresh()).rejects.toMatchObject({ code: 'DiskFull' });
  expect([keeper.current(), keeper.refused()]).toEqual([
    undefined,
    'the newest state of the Machine could not be taken over: the disk is full: desired.json could not be written',
  ]);
  isFull = false;
  await keeper.refresh();
  expect([keeper.current()?.name, keeper.refused()]).toEqual(['n1', undefined]);
});

it('AGT-40 writes the accepted state again after its file was removed: the next start may be without the API server', async () => {
  const { files } = createMemoryHost({ clock: virtualClock(), artifacts: new Map() });
  const declared = machine('n1', { spec: { components: [] } });
  const online = { machine: () => declared, component: async () => undefined };
  const keeper = await openAcceptance(files, online);
  await keeper.refresh();
  await files.remove(DESIRED_FILE);
  await keeper.refresh();
  const offline = { machine: () => undefined, component: async () => undefined };
  expect((await openAcceptance(files, offline)).current()).toEqual(keeper.current());
  expect(keeper.current()?.name).toBe('n1');
});
