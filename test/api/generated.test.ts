import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { generatedFiles } from '../../src/api/generate/generate.ts';
import type { Check, Cluster, MachineComponentSetSpec, Selector } from '../../src/api/generated/types.ts';
import type { Rollout, Check as WrittenCheck } from '../../src/constructs/generated/types.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';

const ROOT = join(import.meta.dirname, '../..');
const files = generatedFiles();

describe('the generated files', () => {
  it.each(files.map(({ path, text }) => [path, text] as const))('%s is fresh', (path, text) => {
    // Not `toBe`: a diff of thousands of lines does not help.
    expect(readFileSync(join(ROOT, path), 'utf8') === text, 'run `npm run generate` and commit').toBe(true);
  });

  it('are the only files in their directories', () => {
    const folders = ['crds', 'src/api/generated', 'src/constructs/generated'];
    const found = folders.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1)),
    );
    expect(found.toSorted()).toEqual(files.map(({ path }) => path).toSorted());
  });

  it('are the same in another process, locale and time zone', () => {
    const script = `
      import { generatedFiles } from './src/api/generate/generate.ts';
      process.stdout.write(JSON.stringify(generatedFiles()));
    `;
    const elsewhere = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, LANG: 'tr_TR.UTF-8', TZ: 'Pacific/Chatham' },
      maxBuffer: 64 * 2 ** 20,
    });
    expect(elsewhere === JSON.stringify(files)).toBe(true);
  });
});

describe('the types', () => {
  it('require defaulted fields when an object is read, and not when it is written', () => {
    expectTypeOf<Check['intervalSeconds']>().toEqualTypeOf<number>();
    expectTypeOf<WrittenCheck['intervalSeconds']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<MachineComponentSetSpec['rollout']['batches'][number]>().toEqualTypeOf<
      number | `${number}%`
    >();
    expectTypeOf<Rollout>().toExtend<{ readonly windows?: readonly object[] }>();
    expectTypeOf<Selector>().toEqualTypeOf<Readonly<Selector>>();
  });

  it('are Kubernetes objects with their kind', () => {
    expectTypeOf<Cluster>().toExtend<KubeObject>();
    expectTypeOf<Cluster['spec']['environment']>().toEqualTypeOf<'test' | 'pre' | 'prod'>();
    expectTypeOf<Cluster['kind']>().toEqualTypeOf<'Cluster'>();
  });
});
