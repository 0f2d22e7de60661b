import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { DiskFiles } from '../../../../src/agent/host/disk/files.ts';
import {
  createAccountOwners,
  createRecordedOwners,
  type FileOwners,
} from '../../../../src/agent/host/disk/owners.ts';
import { createHostRoot } from '../../../../src/agent/host/disk/root.ts';
import type { HostFiles } from '../../../../src/agent/host/port.ts';
import { bytes } from '../../../support/agent/host-contract.ts';
import { tempFolder } from '../../../support/temp.ts';

const PLAIN = { mode: '0644', owner: 'root:root' };
let folder: string;
let files: HostFiles;

beforeEach(() => {
  folder = tempFolder('files');
  mkdirSync(join(folder, 'root'));
  const owners = createRecordedOwners(join(folder, 'owners.json'));
  files = new DiskFiles(createHostRoot(join(folder, 'root')), owners);
});

describe('the files of a host in a directory', () => {
  it('never writes outside of it through ..', async () => {
    await files.write('/../../escaped', bytes('x'), PLAIN);
    expect(readFileSync(join(folder, 'root/escaped'), 'utf8')).toBe('x');
  });

  it.each<[name: string, act: () => Promise<unknown>]>([
    ['write', () => files.write('/etc/out/a', bytes('x'), PLAIN)],
    ['append', () => files.append('/etc/out/a', bytes('x'))],
    ['copy', () => files.copy('/a', '/etc/out/a', PLAIN)],
    ['rename', () => files.rename('/a', '/etc/out/a')],
    ['remove', () => files.remove('/etc/out/kept')],
    ['makeDirectory', () => files.makeDirectory('/etc/out/d')],
    ['setAttributes', () => files.setAttributes('/etc/out/kept', { ...PLAIN, mode: '0777' })],
  ])('never leaves it through a link with %s', async (_, act) => {
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'kept'), 'theirs', { mode: 0o600 });
    writeFileSync(join(folder, 'root/a'), 'x');
    mkdirSync(join(folder, 'root/etc'));
    symlinkSync(outside, join(folder, 'root/etc/out'));
    await expect(act()).rejects.toMatchObject({ code: 'NoAccess', hint: 'remove the link' });
    expect(readFileSync(join(outside, 'kept'), 'utf8')).toBe('theirs');
    expect(statSync(join(outside, 'kept')).mode & 0o777).toBe(0o600);
  });

  it('writes over what a killed agent left half written', async () => {
    writeFileSync(join(folder, 'root/.a.kubenode'), 'half');
    await files.write('/a', bytes('whole'), PLAIN);
    expect(await files.list('/')).toEqual(['a']);
  });

  it('records an owner until the file belongs to root again', async () => {
    await files.write('/a', bytes('x'), { mode: '0644', owner: 'joe:joe' });
    expect((await files.stat('/a'))?.owner).toBe('joe:joe');
    await files.setAttributes('/a', PLAIN);
    expect((await files.stat('/a'))?.owner).toBe('root:root');
  });

  it('names what the operating system refuses', async () => {
    await files.write('/a', bytes('x'), PLAIN);
    await expect(files.write('/a/b', bytes('x'), PLAIN)).rejects.toMatchObject({ code: 'NoAccess' });
  });
});

describe('a user who owns the directory', () => {
  it.each<[name: string, act: (real: HostFiles) => Promise<unknown>]>([
    ['write', (real) => real.write(join(folder, 'theirs/a'), bytes('x'), { ...PLAIN, mode: '0666' })],
    [
      'copy',
      (real) => real.copy(join(folder, 'source'), join(folder, 'theirs/a'), { ...PLAIN, mode: '0666' }),
    ],
  ])('gets no mode of a file elsewhere by a link in the place of a file of %s', async (_, act) => {
    const secret = join(folder, 'secret');
    writeFileSync(secret, 'secret', { mode: 0o600 });
    writeFileSync(join(folder, 'source'), 'x');
    mkdirSync(join(folder, 'theirs'));
    const temporary = join(folder, 'theirs/.a.kubenode');
    const owners: FileOwners = {
      read: async () => 'root:root',
      // The user acts at the worst moment: between the content and its attributes.
      async apply() {
        rmSync(temporary);
        symlinkSync(secret, temporary);
      },
    };
    await act(new DiskFiles(createHostRoot('/'), owners));
    expect([statSync(secret).mode & 0o777, readFileSync(secret, 'utf8')]).toEqual([0o600, 'secret']);
  });
});

it('never copies through a link that appears in the place of the new file', async () => {
  const [secret, source] = [join(folder, 'secret'), join(folder, 'source')];
  writeFileSync(secret, 'secret');
  writeFileSync(source, 'x');
  const root = createHostRoot('/');
  const toDisk = (path: string): string => {
    if (path === source) symlinkSync(secret, join(folder, '.a.kubenode'));
    return root.toDisk(path);
  };
  const real = new DiskFiles({ ...root, toDisk }, createAccountOwners(root));
  await expect(real.copy(source, join(folder, 'a'), PLAIN)).rejects.toMatchObject({ code: 'NoAccess' });
  expect(readFileSync(secret, 'utf8')).toBe('secret');
});

describe('the owners of a real node', () => {
  it('are named as in /etc/passwd and /etc/group', async () => {
    const path = join(folder, 'a');
    writeFileSync(path, 'x');
    const real = new DiskFiles(createHostRoot('/'), createAccountOwners(createHostRoot('/')));
    const { owner, ownerIds } = (await real.stat(path)) ?? {};
    expect(ownerIds).toBe(`${process.getuid?.()}:${process.getgid?.()}`);
    expect(owner).toMatch(/^[a-z_][\w-]*:[a-z_][\w-]*$/);
    await expect(
      real.setAttributes(path, { mode: '0644', owner: 'no-such-user:root' }),
    ).rejects.toMatchObject({
      message: `${path} cannot belong to no-such-user: the host has no such account`,
    });
  });
});
