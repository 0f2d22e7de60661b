import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  listEventFiles,
  readEventFile,
  rejectEventFile,
} from '../../../../src/controllers/hostdoctor/intake/event-file.ts';
import type { EventFile } from '../../../../src/controllers/hostdoctor/intake/folder-plan.ts';
import { tempFolder } from '../../../support/temp.ts';

async function listOne(folder: string): Promise<EventFile> {
  const [file = { name: '', stamp: '' }] = await listEventFiles(folder);
  return file;
}

describe('MAC-39 a file of an event', () => {
  it('is not returned when it was changed since it was listed', async () => {
    const folder = tempFolder('events');
    writeFileSync(join(folder, 'a.json'), '{}');
    const file = await listOne(folder);
    expect(await readEventFile(folder, file)).toMatchObject({ text: '{}' });
    writeFileSync(join(folder, 'a.json'), '{"longer": 1}');
    expect(await readEventFile(folder, file)).toBeUndefined();
  });

  it('is moved aside, and not when it was replaced since it was read', async () => {
    const folder = tempFolder('events');
    writeFileSync(join(folder, 'a.json'), 'bad');
    const file = await listOne(folder);
    writeFileSync(join(folder, 'a.json'), '{"good": true}');
    expect(await rejectEventFile(folder, file)).toBe(false);
    expect(await rejectEventFile(folder, await listOne(folder))).toBe(true);
    expect(readdirSync(folder)).toEqual(['a.json.rejected']);
  });

  it('is refused when it is a socket', async () => {
    const folder = tempFolder('events');
    const server = createServer();
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    await new Promise<void>((resolve) => server.listen(join(folder, 'a.json'), resolve));
    expect(await readEventFile(folder, await listOne(folder))).toEqual({
      problem: 'it is not a regular file',
    });
  });
});
