import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FleetState, readState, writeState } from '../../src/local/state.ts';
import { tempFolder } from '../support/temp.ts';

const STATE: FleetState = {
  version: 1,
  etcdPort: 2379,
  clusters: [
    {
      name: 'hub',
      port: 6443,
      controllerManagerPort: 10_257,
      schedulerPort: 10_259,
      bindAddress: '127.0.0.1',
      names: ['host.example.com'],
      controllers: true,
    },
  ],
};

describe('the state file', () => {
  it('reads back what was written, without temporary files', async () => {
    const folder = tempFolder('state');
    const path = join(folder, 'state.json');
    await writeState(path, STATE);
    expect(await readState(path)).toEqual(STATE);
    expect(readdirSync(folder)).toEqual(['state.json']);
  });

  it('is undefined if the file does not exist', async () => {
    expect(await readState(join(tempFolder('state'), 'state.json'))).toBeUndefined();
  });

  it.each([
    ['no text', ''],
    ['half of its text', JSON.stringify(STATE).slice(0, 60)],
    ['a list', '[]'],
    ['another version', JSON.stringify({ ...STATE, version: 2 })],
    ['an unknown field', JSON.stringify({ ...STATE, more: 1 })],
    ['an invalid port', JSON.stringify({ ...STATE, etcdPort: 70_000 })],
    ['a name outside of the folder', JSON.stringify(STATE).replace('"hub"', '"../hub"')],
  ])('fails with path and hint if it contains %s', async (_, text) => {
    const path = join(tempFolder('state'), 'state.json');
    writeFileSync(path, text);
    await expect(readState(path)).rejects.toMatchObject({
      code: 'CorruptState',
      message: expect.stringContaining(path) as string,
      hint: expect.stringContaining('kubenode local down --wipe') as string,
    });
  });
});
