/** `cdk8s synth` in this checkout: it runs `app` of cdk8s.yaml in a shell, with the folder for the objects in the environment. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { createTestRenderer } from '../support/fleet-repository.ts';
import { tempFolder } from '../support/temp.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const renders = createTestRenderer();

it('cdk8s synth writes the objects that sync renders', async () => {
  const folder = tempFolder('synth');
  const { app } = parse(readFileSync(join(ROOT, 'cdk8s.yaml'), 'utf8')) as { app: string };
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}` };
  execFileSync(app, { cwd: ROOT, shell: true, env: { ...env, CDK8S_OUTDIR: folder } });
  const written = readdirSync(folder).flatMap((name) =>
    parseAllDocuments(readFileSync(join(folder, name), 'utf8')).map((each) =>
      keyOf(each.toJS() as KubeObject),
    ),
  );
  const { targets } = await renders.folder({ folder: ROOT });
  const rendered = targets.flatMap(({ units }) =>
    units.flatMap(({ objects }) => objects.map(({ object }) => keyOf(object))),
  );
  expect(written.length).toBeGreaterThan(90);
  expect(written.toSorted()).toEqual(rendered.toSorted());
});

interface KubeObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

function keyOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}`;
}
