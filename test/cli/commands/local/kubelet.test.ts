import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Candidate } from '../../../../src/api/validation/validate.ts';
import { validate } from '../../../../src/api/validation/validate.ts';
import { createLocalKubeletCommand } from '../../../../src/cli/commands/local/kubelet.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

async function run(file: string, ...args: string[]): Promise<string> {
  const io = testIo();
  await createLocalKubeletCommand(io, pathToFileURL(file)).parseAsync(args, { from: 'user' });
  return io.stdout;
}

describe('kubenode local kubelet', () => {
  it('prints objects that the API server accepts, pinned to the bundle', async () => {
    const file = join(tempFolder('bundle'), 'kubelet.mjs');
    writeFileSync(file, 'content');
    const text = await run(file, '--kubernetes-version', '1.35.4', '--machine', 'n1', 'n2');
    const objects = parseAllDocuments(text).map((document) => document.toJS() as Candidate);
    expect(objects.map(({ kind }) => kind)).toEqual(['MachineComponent', 'Machine', 'Machine']);
    expect(objects.flatMap((object) => validate(object))).toEqual([]);
    expect(text).toContain('sha256: ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73');
    expect(text).toContain('--kubelet-version=v1.35.4');
  });

  it('names the command that builds the bundle', async () => {
    await expect(run('/does/not/exist')).rejects.toMatchObject({ hint: 'build it: npm run bundle:kubelet' });
  });
});
