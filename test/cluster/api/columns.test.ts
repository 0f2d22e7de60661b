/**
 * What `kubectl get` prints of each kind, with the real kubectl, beside what was printed when somebody last looked:
 * test/golden/columns. UPDATE_GOLDEN=1 rewrites it.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { crds } from '../../../src/api/install/install.ts';
import { KINDS } from '../../../src/api/kinds/registry.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { accepted } from '../../api/fixtures/load.ts';
import { writeCase } from '../../api/fixtures/write.ts';
import { aligned } from './columns.ts';
import { type InstalledServer, startInstalledServer } from './installed-server.ts';

const GOLDEN = join(import.meta.dirname, '../../golden/columns');
/** Their names follow from their specs, so that there is only one of each example. */
const COMPOSED = ['DefenderLedger', 'FleetAllowance', 'MachineComponent', 'Release', 'RemedyOperationJob'];
/** By kind, written by hand. */
const reported = parse(readFileSync(join(import.meta.dirname, 'columns.yaml'), 'utf8')) as Partial<
  Record<string, unknown>
>;
const run = promisify(execFile);

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer(crds());
});
afterAll(() => installed?.stop());

describe('kubectl get', () => {
  it.each(KINDS)('$plural', async ({ kind, plural, columns }) => {
    const { client } = installed.server;
    for (const object of examples(kind)) await writeCase(client, { it: plural, kind, object });
    const ages = columns.filter(({ type }) => type === 'date').map(({ name }) => name.toUpperCase());
    const wide = columns.some((column) => column.wide === true);
    const tables = [await get(plural, ages), ...(wide ? [await get(`${plural} -o wide`, ages)] : [])];
    const printed = tables.join('\n');
    const file = join(GOLDEN, `${plural}.txt`);
    if (process.env['UPDATE_GOLDEN'] === '1') {
      mkdirSync(GOLDEN, { recursive: true });
      writeFileSync(file, printed);
    }
    expect(printed).toBe(readFileSync(file, 'utf8'));
  });

  it('lists the short name and the category of each kind', async () => {
    const { stdout } = await kubectl('api-resources', '--categories=kubenode', '--no-headers', '-o', 'wide');
    for (const { kind, plural, shortName } of KINDS) {
      expect(stdout).toMatch(
        new RegExp(`^${plural} +${shortName} +kubenode.dev/v1alpha1 +false +${kind} `, 'm'),
      );
    }
  });
});

/** One without status, and one with a value in every column. */
function examples(kind: string): readonly KubeObject[] {
  const found = accepted().find((each) => each.kind === kind);
  const status = reported[kind];
  if (!found || !status) throw new Error(`the corpus or columns.yaml has no ${kind}`);
  const full = { ...found.object, status };
  if (COMPOSED.includes(kind)) return [full];
  return [{ ...found.object, metadata: { ...found.object.metadata, name: 'a-new-one' } }, full];
}

async function get(asked: string, ages: readonly string[]): Promise<string> {
  const { stdout } = await kubectl('get', ...asked.split(' '));
  return `$ kubectl get ${asked}\n${aligned(stdout, ages)}`;
}

function kubectl(...parts: readonly string[]): Promise<{ stdout: string }> {
  const { server } = installed;
  return run(server.kubectl, ['--kubeconfig', server.kubeconfig, ...parts]);
}
