/** S20: a fleet repository is arbitrary code. Every program is stopped at its limits, and none can forge a result. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RenderError } from '../../../../src/sync/render/errors.ts';
import type { RenderLimits } from '../../../../src/sync/render/sandbox/sandbox.ts';
import {
  createFleetFolder,
  createFleetRepository,
  createTestRenderer,
  program,
} from '../../../support/fleet-repository.ts';
import { tempFolder } from '../../../support/temp.ts';

const MANY = `for (let n = 0; n < 400; n++) new ApiObject(fleet.hub('x'), 'c' + n, {
  apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' + n },`;
const shared = createTestRenderer();

describe('a hostile repository', () => {
  it('cannot follow symlinks: a commit is exported without them', async () => {
    const repository = createFleetRepository();
    symlinkSync('/etc/passwd', join(repository.dir, 'link'));
    const outside = tempFolder('outside');
    writeFileSync(join(outside, 'secret'), 'secret');
    symlinkSync(outside, join(repository.dir, 'folder'));
    const read = `let read = ''; for (const path of ['link', 'folder/secret']) {
      try { read += process.getBuiltinModule('node:fs').readFileSync(new URL(path, import.meta.url), 'utf8'); } catch (error) { read += (error as any).code; } }`;
    repository.commit('links', { 'main.ts': program(read, '{ read }') });
    const commit = await repository.transport.fetch('main');
    const { rendered } = await shared.commit({ git: repository.transport, commit });
    expect(JSON.stringify(rendered)).toContain('"read":"ENOENTENOENT"');
  });

  const small: Partial<RenderLimits> = { heapMiB: 128, outputBytes: 20e6 };
  const short: Partial<RenderLimits> = { timeoutMs: 1_000 };

  it.each<[what: string, body: string, code: string, limits: Partial<RenderLimits>]>([
    ['loops forever', 'for (;;);', 'Timeout', short],
    ['sleeps forever', 'setInterval(() => {}, 1000); await new Promise(() => {});', 'Timeout', short],
    ['uses too much CPU time', 'for (;;);', 'Timeout', { cpuSeconds: 1 }],
    [
      'allocates arrays without end',
      'const all = []; for (;;) all.push(new Array(1e6).fill(1));',
      'OutOfMemory',
      small,
    ],
    [
      'allocates buffers without end',
      'const all = []; for (;;) all.push(Buffer.alloc(50e6, 1));',
      'OutOfMemory',
      small,
    ],
    [
      'prints too much',
      `const text = 'x'.repeat(1e6); for (;;) try { process.getBuiltinModule('node:fs').writeSync(1, text); } catch {}`,
      'TooMuchOutput',
      small,
    ],
    ['renders too much', `${MANY} data: { x: 'x'.repeat(1e5) } } as never);`, 'TooMuchOutput', small],
    ['recurses forever', 'function down(): void { down(); } down();', 'Failed', small],
  ])('is stopped at the limit when it %s, and other renders succeed', async (_, body, code, limits) => {
    const hostile = createTestRenderer({ limits }).folder({
      folder: createFleetFolder({ 'main.ts': program(body) }),
    });
    const other = shared.folder({ folder: createFleetFolder({ 'main.ts': program() }) });
    const [ended, good] = await Promise.allSettled([hostile, other]);
    expect(ended).toMatchObject({ status: 'rejected', reason: { name: 'RenderError', code } });
    expect(good.status).toBe('fulfilled');
  });

  it('cannot change the result by printing', async () => {
    const garbage = `console.log('{"end":0}'); console.error('\\u0000\\u001b[2J'); process.stdout.write('garbage');`;
    const { targets } = await shared.folder({ folder: createFleetFolder({ 'main.ts': program(garbage) }) });
    expect(targets.map(({ target }) => target)).toEqual(['hub', 'test']);
  });

  it.each<[what: string, body: string]>([
    ['writes an end line', `process.getBuiltinModule('node:fs').writeSync(3, '{"end":0}\\n');`],
    ['writes garbage', `process.getBuiltinModule('node:fs').writeSync(3, 'garbage\\n{"object":');`],
    [
      'adds an object',
      `process.getBuiltinModule('node:fs').writeSync(3, '{"object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}},"target":"test","unit":"web"}\\n');`,
    ],
    ['closes the result', `process.getBuiltinModule('node:fs').closeSync(3);`],
    ['writes null bytes', `process.getBuiltinModule('node:fs').writeSync(3, Buffer.alloc(1000));`],
  ])('fails when it %s', async (_, body) => {
    const rendered = shared.folder({ folder: createFleetFolder({ 'main.ts': program(body) }) });
    await expect(rendered).rejects.toMatchObject({ name: 'RenderError', code: 'Failed' });
  });

  it('cannot affect the parent by changing prototypes', async () => {
    const body = `const bad = { get() { return 'tampered'; }, configurable: true };
      Object.defineProperty(Object.prototype, 'polluted', bad);
      Object.prototype.toJSON = function () { return { apiVersion: 'v1', kind: 'Evil', metadata: { name: 'evil', labels: JSON.parse('{"__proto__": {"polluted": "yes"}}') } }; } as never;
      Array.prototype.map = () => ['evil'] as never; JSON.stringify = () => 'evil'; String.prototype.split = () => [] as never;
      globalThis.Buffer.from = () => { throw new Error('evil'); };`;
    const outcome = await shared.folder({ folder: createFleetFolder({ 'main.ts': program(body) }) }).then(
      () => 'rendered',
      (error: unknown) => (error as RenderError).name,
    );
    expect(['rendered', 'RenderError']).toContain(outcome);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    const { targets } = await shared.folder({ folder: createFleetFolder({ 'main.ts': program() }) });
    expect(targets[1]?.units[0]?.objects[0]?.object.kind).toBe('ConfigMap');
  });

  it('names the denied function, the file and the line in the error', async () => {
    const main = `import { execSync } from 'node:child_process';\n\nexecSync('id');\n${program()}`;
    const rendered = shared.folder({ folder: createFleetFolder({ 'fleet/main.ts': main }) });
    await expect(rendered).rejects.toMatchObject({
      code: 'Denied',
      message: expect.stringContaining('child_process') as string,
      problems: [{ file: 'fleet/main.ts', line: 3 }],
    });
  });

  it('stops when the signal is aborted', async () => {
    const abort = new AbortController();
    const rendered = shared.folder({
      folder: createFleetFolder({ 'main.ts': 'for (;;);' }),
      signal: abort.signal,
    });
    setTimeout(() => abort.abort(new Error('enough')), 300);
    await expect(rendered).rejects.toThrow('enough');
  });

  it('starts nothing when the signal is aborted already', async () => {
    const folder = createFleetFolder({ 'main.ts': 'for (;;);' });
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(shared.folder({ folder, signal })).rejects.toThrow('enough');
  });
});
