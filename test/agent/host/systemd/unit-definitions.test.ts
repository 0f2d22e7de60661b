import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryFiles } from '../../../../src/agent/host/memory/files.ts';
import { UnitDefinitions } from '../../../../src/agent/host/systemd/unit-definitions.ts';
import { agentUnit } from '../../../support/agent/targets.ts';

const FILE = '/etc/systemd/system/proxy.service';
const DROP_IN = `${FILE}.d/limits.conf`;
const PLAIN = { mode: '0644', owner: 'root:root' };
const UNIT = agentUnit('proxy', { dropIns: [{ name: 'limits', content: '[Service]\n' }] });
const STATE = { enabled: true, running: true };

describe('UnitDefinitions', () => {
  let files: MemoryFiles;
  let definitions: UnitDefinitions;
  beforeEach(() => {
    files = new MemoryFiles(() => new Map(), Number.POSITIVE_INFINITY);
    definitions = new UnitDefinitions(files);
  });

  async function theirs(path: string, content = 'theirs'): Promise<void> {
    await files.write(path, new TextEncoder().encode(content), PLAIN);
  }

  async function text(path: string): Promise<string | undefined> {
    const content = await files.read(path);
    return content && new TextDecoder().decode(content);
  }

  async function remove(): Promise<void> {
    const original = await definitions.original('proxy');
    if (original) await definitions.remove(UNIT, original);
  }

  it('MAC-20 remembers that a unit ran before one that it requires was stopped', async () => {
    await theirs(FILE);
    await definitions.noteDependent('proxy', STATE);
    await definitions.write(UNIT, { enabled: true, running: false });
    expect((await definitions.original('proxy'))?.state).toEqual(STATE);
  });

  it('MAC-20 takes no unit that it has written itself for one of the host', async () => {
    await definitions.write(UNIT, undefined);
    await definitions.forget('proxy');
    await definitions.noteDependent('proxy', STATE);
    expect((await definitions.original('proxy'))?.state).toBeUndefined();
  });

  it('AGT-15 puts the files of others back, and leaves nothing of its own', async () => {
    await theirs(FILE);
    await theirs(DROP_IN);
    const before = files.tree();
    await definitions.write(UNIT, STATE);
    expect(await definitions.isWritten(UNIT)).toBe(true);
    expect((await definitions.original('proxy'))?.state).toEqual(STATE);
    await remove();
    await definitions.forget('proxy');
    expect([...files.tree()].filter(([path]) => path.startsWith('/etc'))).toEqual(
      [...before].filter(([path]) => path.startsWith('/etc')),
    );
  });

  it('AGT-12 keeps what it put back when the removal is repeated, before and after its record was removed', async () => {
    await theirs(FILE);
    await definitions.write(UNIT, STATE);
    await remove();
    await remove();
    expect(await text(FILE)).toBe('theirs');
    await definitions.forget('proxy');
    expect(await definitions.original('proxy')).toBeUndefined();
    expect(await text(FILE)).toBe('theirs');
  });

  it('takes an edit of its own file for drift, not for an original', async () => {
    await definitions.write(UNIT, undefined);
    await theirs(FILE, 'edited');
    expect(await definitions.isWritten(UNIT)).toBe(false);
    expect(await definitions.write(UNIT, undefined)).toBe(true);
    await remove();
    expect(await files.stat(FILE)).toBeUndefined();
    expect(await files.stat(`${FILE}.d`)).toBeUndefined();
  });

  it('removes a mask that took the place of its definition', async () => {
    await definitions.write(UNIT, undefined);
    await files.link(FILE, '/dev/null');
    await remove();
    expect(await files.stat(FILE)).toBeUndefined();
  });

  it('AGT-15 is removed once nothing of it is in the place of its definition', async () => {
    const isRemoved = async (): Promise<boolean | undefined> => {
      const original = await definitions.original('proxy');
      return original && (await definitions.isRemoved('proxy', original));
    };
    await theirs(FILE);
    await definitions.write(UNIT, STATE);
    expect(await isRemoved()).toBe(false);
    await files.link(FILE, '/dev/null');
    expect(await isRemoved()).toBe(false);
    await remove();
    expect(await isRemoved()).toBe(true);
    expect(await text(FILE)).toBe('theirs');
  });

  it.each([
    ['is in force again', STATE, true],
    ['never existed', undefined, false],
  ])('AGT-15 without a file, the unit that the host had %s', async (_, state, expected) => {
    await definitions.write(UNIT, state);
    await files.remove(FILE);
    const original = await definitions.original('proxy');
    expect(original && (await definitions.isRemoved('proxy', original))).toBe(expected);
  });

  it('leaves the drop-ins of others, and keeps the first state of the unit', async () => {
    await theirs(`${FILE}.d/theirs.conf`);
    await definitions.note('proxy', STATE);
    await definitions.write(UNIT, { enabled: false, running: false });
    expect((await definitions.original('proxy'))?.state).toEqual(STATE);
    await remove();
    expect(await files.list(`${FILE}.d`)).toEqual(['theirs.conf']);
  });

  it('writes nothing a second time', async () => {
    expect(await definitions.write(UNIT, undefined)).toBe(true);
    expect(await definitions.write(UNIT, undefined)).toBe(false);
  });
});
