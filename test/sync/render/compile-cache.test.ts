import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFleetFolder, createTestRenderer, program } from '../../support/fleet-repository.ts';
import { tempFolder } from '../../support/temp.ts';

const INTRUSION = `process.getBuiltinModule('node:fs').writeFileSync('FOLDER/intruder', 'x');`;
const RECORD = `process.getBuiltinModule('node:module').flushCompileCache();`;

describe('the compile cache of the sandbox', () => {
  it('changes nothing that is rendered', async () => {
    const folder = createFleetFolder({ 'main.ts': program('', '{ env: JSON.stringify(process.env) }') });
    const [cached, uncached] = await Promise.all([
      createTestRenderer({ compileCache: tempFolder('compiled') }).folder({ folder }),
      createTestRenderer({ compileCache: undefined }).folder({ folder }),
    ]);
    expect(cached).toEqual(uncached);
  });

  it('is written before a repository is rendered, and never by its program', async () => {
    const cache = tempFolder('compiled');
    const renderer = createTestRenderer({ compileCache: cache });
    const intrude = (body: string): Promise<unknown> =>
      renderer.folder({ folder: createFleetFolder({ 'main.ts': program(body) }) });
    await intrude('');
    const filled = readdirSync(cache, { recursive: true });
    expect(filled.length).toBeGreaterThan(100);
    for (const body of [RECORD, INTRUSION.replace('FOLDER', cache)]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other in the same folder
      await expect(intrude(body)).rejects.toMatchObject({ code: 'Denied' });
    }
    expect(readdirSync(cache, { recursive: true })).toEqual(filled);
  });

  it('is not needed: renders start slower where it cannot be written', async () => {
    const file = join(tempFolder('compiled'), 'file');
    writeFileSync(file, '');
    const renderer = createTestRenderer({ compileCache: file });
    const { targets } = await renderer.folder({ folder: createFleetFolder({ 'main.ts': program() }) });
    expect(targets.map(({ target }) => target)).toEqual(['hub', 'test']);
  });
});
